import type { Upgrader } from '@wins/service-upgrade';

/** Specs replace this value before first use (docs/adr/0048-ship-no-test-doubles.md). */
export const upgradeSystem = { hasServices: process.platform === 'win32' };

/** Loads the upgrade code from its own bundle, because few daemons need it. */
export function loadUpgrader(): Upgrader {
  // The file is beside this one once everything is bundled; an import would be resolved at build time.
  // oxlint-disable-next-line typescript/no-require-imports
  return require('./wins-upgrade.cjs') as Upgrader;
}
