import { crashSuc } from '../testing/node/crash-suc.js';
import { crashUninstall } from '../testing/node/crash-uninstall.js';
import { isAll, numbersTo, sampleOf } from '../testing/sample.js';

/** More changes than any command makes. */
const MANY = 200;

/** Kills a command after each change in a sample of its first `least` changes, or with `--all` after each of its changes. */
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
  }, 1_200_000);

  it('when it uninstalled a node is continued by the next command, and nothing remains', async () => {
    await atChanges(20, crashUninstall);
  }, 600_000);
});
