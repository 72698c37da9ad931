import type { WinsConfig } from '@wins/config';
import {
  checkAllowedExecutables,
  doubtAllowedExecutables,
  type AllowedExecutable,
  type AllowedExecutableProblem,
} from '@wins/process-manager';

const DIALECT = process.platform === 'win32' ? 'windows' : 'posix';

/** The whitelist as the process manager takes it: without digests an entry is not pinned. */
export function allowedBy({ whiteList }: WinsConfig): readonly AllowedExecutable[] {
  return whiteList.processPaths.map(({ sha256, mayBreakAway = false, ...entry }) => ({
    ...entry,
    mayBreakAway,
    ...(sha256.length > 0 && { sha256 }),
  }));
}

/** Entries of the whitelist that can never match, and why. */
export function faultyEntries(config: WinsConfig): readonly AllowedExecutableProblem[] {
  return checkAllowedExecutables(allowedBy(config), DIALECT);
}

/**
 * Entries of the whitelist that may allow more or less than is meant, and why.
 *
 * @param tellsClientsApart - Called for a config with `for` alone.
 */
export function doubtfulEntries(
  config: WinsConfig,
  tellsClientsApart: () => boolean,
): readonly AllowedExecutableProblem[] {
  const asksForClients = config.whiteList.processPaths.some((entry) => entry.for !== undefined);
  const tellsCallersApart = !asksForClients || tellsClientsApart();
  return doubtAllowedExecutables(allowedBy(config), DIALECT, { tellsCallersApart });
}
