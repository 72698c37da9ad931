import { crashSuc } from '../testing/node/crash-suc.js';
import { crashUninstall } from '../testing/node/crash-uninstall.js';

it('is updated by the next job when one was killed while the daemon stood still, and rke2 is linked again', async () => {
  const { wasKilled, recovered } = await crashSuc('stop');
  expect([wasKilled, recovered]).toEqual([true, 'undone']);
});

it('is gone after the next uninstallation when one was killed in the middle', async () => {
  const { wasKilled, changes } = await crashUninstall('stop');
  expect([wasKilled, changes.at(-1)]).toEqual([true, expect.stringContaining('stop')]);
});
