import assert from 'node:assert/strict';
import type { Outcome } from '../built-program.js';
import { fakeRelease, type Misbehaviour } from './fake-release.js';
import { sha256, UpgradeWorld, type Fault } from './upgrade-world.js';

export const OLD = fakeRelease('v1.0.0');
/** Restart delay, longer than a test. A crashed service therefore stays down, so that each upgrade has the same effects. */
const NEVER_MS = 600_000;

export class CrashedUpgrade {
  readonly next: string;
  readonly #misbehaviour: Misbehaviour | undefined;

  constructor(misbehaviour?: Misbehaviour) {
    this.#misbehaviour = misbehaviour;
    this.next = fakeRelease('v1.1.0', misbehaviour);
  }

  args(world: UpgradeWorld): string[] {
    // A busy machine may start a healthy release slowly. An unhealthy one would use the whole wait.
    const wait = this.#misbehaviour === undefined ? [] : ['--wait', '10s'];
    return ['--path', world.release('v1.1.0', this.#misbehaviour), ...wait];
  }

  /** Repeats the interrupted upgrade. The command reports "busy" (75) while a daemon finishes it. */
  async again(world: UpgradeWorld): Promise<Outcome> {
    for (;;) {
      const outcome = await world.up(this.args(world));
      if (outcome.code !== 75) return outcome;
    }
  }

  /** Starts an upgrade on a new node, and kills the upgrade helper before or after step `step`. Checks that the service's program is complete. */
  async interrupted(step: number | string, moment: Fault): Promise<UpgradeWorld> {
    const world = await UpgradeWorld.running();
    world.supervisor.restartMs = NEVER_MS;
    const { signal, stderr } = await world.up(this.args(world), { [step]: moment });
    if (signal !== 'SIGKILL') throw new Error(`it was not killed: ${stderr}`);
    const { named = '' } = world;
    assert.ok([sha256(OLD), sha256(this.next)].includes(named), `${named} is not whole`);
    world.supervisor.restartMs = 30;
    return world;
  }
}
