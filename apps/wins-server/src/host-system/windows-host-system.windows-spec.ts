import { windowsHostSystem } from '@wins/windows-host';
import { describe, it } from 'node:test';
import { hostSystemContract } from '../testing/host-system-contract.js';

// Wine's IP Helper has no call that changes the table.
const isWine = process.env['WINEPREFIX'] !== undefined;

describe('the host system of Windows', () => {
  const subject = { system: windowsHostSystem(), changesRoutes: !isWine };
  for (const [name, check] of hostSystemContract(subject)) it(name, check);
});
