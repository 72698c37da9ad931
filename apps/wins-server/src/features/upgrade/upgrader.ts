import type { Upgrader } from '@wins/service-upgrade';

/** Loads the upgrade code from its own bundle, because few daemons need it. */
export function loadUpgrader(): Upgrader {
  // The file is beside this one once everything is bundled; an import would be resolved at build time.
  // oxlint-disable-next-line typescript/no-require-imports
  return require('./wins-upgrade.cjs') as Upgrader;
}
