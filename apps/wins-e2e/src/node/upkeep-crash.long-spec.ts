import { crashSuc } from '../testing/node/crash-suc.js';
import { crashUninstall } from '../testing/node/crash-uninstall.js';

/** More changes than any command makes. */
const MANY = 200;

/** Kills a command behind each change that it makes, until one comes to its end. */
async function atEachChange(
  crash: (diesAt: number) => Promise<{ readonly wasKilled: boolean }>,
): Promise<number> {
  for (let at = 1; at < MANY; at += 1) {
    try {
      if (!(await crash(at)).wasKilled) return at - 1;
    } catch (error) {
      throw new Error(`killed behind change ${at}`, { cause: error });
    }
  }
  throw new Error(`it never ended`);
}

describe('a command that was killed behind any of its changes', () => {
  it('when it updated a node is ended by the next: the old state or the new, and one daemon', async () => {
    expect(await atEachChange(crashSuc)).toBeGreaterThan(40);
  }, 1_200_000);

  it('when it uninstalled a node is gone on with by the next, and nothing remains', async () => {
    expect(await atEachChange(crashUninstall)).toBeGreaterThan(20);
  }, 600_000);
});
