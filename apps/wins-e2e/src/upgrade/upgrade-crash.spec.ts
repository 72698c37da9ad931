/**
 * The helper is killed at every single thing that it does, and afterwards either it is run again, or nobody does anything and the
 * node is restarted. Old or new, never neither.
 *
 * Between one act and the next nothing changes, so dying before an act is dying after the one before it: each loop takes one side, and
 * together they take both ends. The model in libs/service-upgrade takes both sides of all.
 */
import type { Outcome } from '../harness/built-program.js';
import { fakeRelease, type Misbehaviour } from '../harness/fake-release.js';
import { forEachOf, sha256, UpgradeWorld, type Fault } from '../harness/upgrade-world.js';

const OLD = fakeRelease('v1.0.0');
/** Longer than a test: a service that crashes stays down, so that each upgrade does the same acts. */
const NEVER_MS = 600_000;

/** An upgrade, and the numbers of its acts. */
class Upgrade {
  readonly next: string;

  constructor(private readonly misbehaviour?: Misbehaviour) {
    this.next = fakeRelease('v1.1.0', misbehaviour);
  }

  args(world: UpgradeWorld): string[] {
    return ['--path', world.release('v1.1.0', this.misbehaviour)];
  }

  /** Runs it again where it was interrupted. A daemon may be finishing it just then: "busy" asks for another try. */
  async again(world: UpgradeWorld): Promise<Outcome> {
    for (;;) {
      const outcome = await world.up(this.args(world));
      if (outcome.code !== 75) return outcome;
    }
  }

  async acts(): Promise<number[]> {
    await using world = await UpgradeWorld.running();
    world.supervisor.restartMs = NEVER_MS;
    await world.up(this.args(world));
    return world.effects.map((_, index) => index + 1);
  }

  /** Makes a node on which the helper died, and checks that what the service names is whole. */
  async interrupted(act: number, moment: Fault): Promise<UpgradeWorld> {
    const world = await UpgradeWorld.running();
    world.supervisor.restartMs = NEVER_MS;
    const { signal, stderr } = await world.up(this.args(world), { [act]: moment });
    if (signal !== 'SIGKILL') throw new Error(`it was not killed: ${stderr}`);
    expect([sha256(OLD), sha256(this.next)]).toContain(world.named);
    world.supervisor.restartMs = 30;
    return world;
  }
}

describe('a helper that dies at any of its acts', () => {
  it('upgrades when it is run again', async () => {
    const upgrade = new Upgrade();
    await forEachOf(await upgrade.acts(), async (act) => {
      await using world = await upgrade.interrupted(act, 'after');
      const { code, stderr } = await upgrade.again(world);
      if (code !== 0) throw new Error(stderr);
      expect(await world.rest()).toBe('v1.1.0');
      expect(world.installed).toBe(sha256(upgrade.next));
    });
  });

  it('leaves the old or the new release, whole and serving, when the node is restarted', async () => {
    const upgrade = new Upgrade();
    const ends = new Set<string>();
    await forEachOf(await upgrade.acts(), async (act) => {
      await using world = await upgrade.interrupted(act, 'before');
      await world.supervisor.powerCycle();
      const version = await world.rest();
      ends.add(version);
      expect(world.installed).toBe(sha256(version === 'v1.0.0' ? OLD : upgrade.next));
    });
    expect([...ends].sort()).toEqual(['v1.0.0', 'v1.1.0']);
  });
});

describe('a helper that dies at any of its acts with a release that is not well', () => {
  it('leaves the old release when the node is restarted', async () => {
    const upgrade = new Upgrade('lies about its version');
    await forEachOf(await upgrade.acts(), async (act) => {
      await using world = await upgrade.interrupted(act, 'after');
      await world.supervisor.powerCycle();
      expect(await world.rest()).toBe('v1.0.0');
      expect(world.installed).toBe(sha256(OLD));
    });
  });

  it('leaves the old release when it is run again', async () => {
    const upgrade = new Upgrade('crashes');
    await forEachOf(await upgrade.acts(), async (act) => {
      await using world = await upgrade.interrupted(act, 'before');
      const { code, stderr } = await upgrade.again(world);
      if (code !== 1) throw new Error(`ended with ${code}: ${stderr}`);
      expect(await world.rest()).toBe('v1.0.0');
      expect(world.installed).toBe(sha256(OLD));
    });
  });
});
