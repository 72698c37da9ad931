import { windowsHostSystem } from '@wins/windows-host';
import { describe, it } from 'node:test';
import { hostSystemContract } from './testing/host-system-contract.js';

const isWine = process.env['WINEPREFIX'] !== undefined;

describe('the host system of Windows', () => {
  const subject = { system: windowsHostSystem(), changesRoutes: !isWine };
  for (const [name, check] of hostSystemContract(subject)) it(name, check);
  if (isWine) it('changes of routes', { skip: "Wine's IP Helper has no call for them" });
});
