import type { Upgrader } from '@wins/service-upgrade';

/** Loads the bundle of upgrades, which few daemons need. */
export function loadUpgrader(): Upgrader {
  // The file is beside this one once everything is bundled; an import would be resolved at build time.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require('./wins-upgrade.cjs') as Upgrader;
}
