import { crashSuc } from '../testing/node/crash-suc.js';
import { crashUninstall } from '../testing/node/crash-uninstall.js';
import { live, mortalRelease } from '../testing/node/mortal-release.js';
import { NodeWorld } from '../testing/node/node-world.js';
import { isAll, numbersTo, sampleOf } from '../testing/sample.js';

/** More changes than any command makes. */
const MANY = 200;

/**
 * Kills a command after one of its changes. Repeats this for a sample of its changes, or for every change with `--all`.
 * @param least - Minimum number of changes that the command makes. The sample comes from the first `least` changes.
 */
async function atChanges(
  least: number,
  crash: (diesAt: number) => Promise<{ readonly wasKilled: boolean }>,
): Promise<void> {
  for (const at of sampleOf(numbersTo(isAll ? MANY : least), 5)) {
    const { wasKilled } = await crash(at).catch((error: unknown) => {
      throw new Error(`killed behind change ${at}`, { cause: error });
    });
    if (wasKilled) continue;
    expect(at).toBeGreaterThan(least);
    return;
  }
  expect(isAll).toBe(false);
}

describe('a command that was killed after any of its changes', () => {
  it('when it updated a node is completed by the next command: old state or new, and one daemon', async () => {
    await atChanges(40, crashSuc);
  });

  it('when it uninstalled a node is continued by the next command, and nothing remains', async () => {
    await atChanges(20, crashUninstall);
  });
});

it('an update that was killed while the daemon was stopped is completed by the next job, and rke2 depends on the daemon again', async () => {
  const { wasKilled, recovered } = await crashSuc('stop');
  expect([wasKilled, recovered]).toEqual([true, 'undone']);
});

it('an uninstallation that was killed midway is completed by the next one', async () => {
  const { wasKilled, changes } = await crashUninstall('stop');
  expect([wasKilled, changes.at(-1)]).toEqual([true, expect.stringContaining('stop')]);
});

it('a dry run shows how the next command first recovers a killed one', async () => {
  await using world = new NodeWorld();
  const release = mortalRelease(world);
  await world.say(['install'], {}, release);
  const wanted = { CATTLE_WINS_DEBUG: 'true' };
  await live(world, release, ['suc'], wanted, 'stop');
  const left = world.snapshot();
  const dry = await world.say(['suc', '--dry-run'], wanted, release);
  expect([dry.code, dry.pending]).toEqual([
    ...[0, { outcome: 'undone', steps: ['start rancher-wins'] }],
  ]);
  const { stdout } = await world.wins(['uninstall', '--dry-run'], {}, release);
  expect(String(stdout)).toContain('an interrupted installation will first be undone:\n- start');
  expect(world.snapshot()).toEqual(left);
  expect(await world.say(['suc'], wanted, release)).toMatchObject({ recovered: 'undone' });
});
