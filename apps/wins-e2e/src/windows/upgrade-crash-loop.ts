import assert from 'node:assert/strict';
import { sampleOf } from '../testing/sample.js';
import { digest, release, WindowsUpgradeWorld, type Death } from './windows-upgrade-world.js';

/** Names of effects that the loop skips. They sync folders, which Windows cannot do. */
const NO_STEP = /^sync /;

/** Settings of `dieAtSteps`, which kills upgrade helpers at a sample of their steps, on two nodes in parallel. */
export interface CrashLoop {
  /** Returns the release to offer to a node. */
  readonly offered: (installed: string) => string;
  readonly moment: Death;
  readonly recover: (crashed: CrashedNode) => Promise<void>;
}

export interface CrashedNode {
  readonly world: WindowsUpgradeWorld;
  readonly installed: string;
  readonly offered: string;
  readonly args: readonly string[];
}

/**
 * Kills a helper at each chosen step. Nothing changes between two steps, so a death before a step equals a death after the previous step.
 * After each death, the loop continues with the release that the node runs.
 */
export async function dieAtSteps(loop: CrashLoop): Promise<void> {
  const first = await WindowsUpgradeWorld.running();
  const offered = loop.offered('v1.0.0');
  await first.up(...argsOf(offered));
  const all = first.effects.flatMap((effect, at) => (NO_STEP.test(effect) ? [] : [at + 1]));
  assert.ok(all.length > 10, first.effects.join());
  const steps = [...sampleOf(all, 4)];
  const whole = ['v1.0.0', offered].map((name) => digest('sha256', release(name)));
  const worker = async (world: WindowsUpgradeWorld): Promise<void> => {
    await using _owned = world;
    for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
      try {
        await dieAt(step, world, loop, whole);
      } catch (error) {
        steps.length = 0;
        const where = `${loop.moment} step ${step} (${world.effects[step - 1] ?? 'none'})`;
        throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
    }
    // The next helper removes files that earlier helpers could not.
    const { outcome } = await world.up(...argsOf(await world.rest()));
    assert.deepEqual([outcome, world.leftovers], ['nothing', []]);
  };
  await Promise.all([worker(first), worker(await WindowsUpgradeWorld.running())]);
}

/** @param whole - Digests of complete programs. */
async function dieAt(
  step: number,
  world: WindowsUpgradeWorld,
  loop: CrashLoop,
  whole: readonly string[],
): Promise<void> {
  const installed = await world.rest();
  const offered = loop.offered(installed);
  const args = argsOf(offered);
  const { stdout, stderr } = await world.startUp(args, { [step]: loop.moment }).outcome;
  assert.deepEqual([world.effects.length, stdout.toString()], [step, ''], `not killed: ${stderr}`);
  assert.ok(whole.includes(digest('sha256', world.named)), `${world.named} is not whole`);
  await loop.recover({ world, installed, offered, args });
  assert.ok(whole.includes(digest('sha256', world.target)));
}

function argsOf(offered: string): readonly string[] {
  return ['--path', release(offered), '--allow-downgrade', '--wait', '30s'];
}
