import { defaultConfigPath, type WinsConfig } from '@wins/config';
import {
  checkAllowedExecutables,
  doubtAllowedExecutables,
  type AllowedExecutable,
  type AllowedExecutableProblem,
} from '@wins/process-manager';
import { escapeText, quoteText } from '@wins/wins-program';
import path from 'node:path';

const KEY = 'white_list.processPaths';
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
  return checkAllowedExecutables(allowedBy(config), DIALECT).map(named);
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
  return doubtAllowedExecutables(allowedBy(config), DIALECT, { tellsCallersApart }).map(named);
}

/** What whoever may not run a program is to do. Clients read it, so it tells the file and the key, and nothing that is in it. */
export function howToAllow(file: string): string {
  const shown = escapeText(path.resolve(file));
  const option = file === defaultConfigPath() ? '' : ` --config ${shown}`;
  return `add it to ${KEY} of ${shown} on the host (wins srv config check${option} shows the list)`;
}

/** The same problem, with the entry named as it stands in the config. */
function named(problem: AllowedExecutableProblem): AllowedExecutableProblem {
  const { index, fault } = problem;
  return { ...problem, message: `${KEY}[${index}] (${quoteText(problem.path)}): ${fault}` };
}
