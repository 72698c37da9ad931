import { quoteText } from '@wins/wins-program';
import type { PathDialect } from './parsed-path.js';

/** The names that the hosts of each kind have for a caller, and so the names an entry can list. */
const KNOWN: Readonly<Record<PathDialect, RegExp>> = {
  posix: /^(?:administrators|user:[0-9]+|container:(?:\*|[0-9a-f]{12,63}\*|[0-9a-f]{64}))$/,
  windows: /^(?:administrators|account:S-[0-9-]+|container:\*)$/,
};

const WANTED: Readonly<Record<PathDialect, string>> = {
  posix: 'administrators, user:UID or container:ID',
  windows: 'administrators, account:SID or container:*',
};

/**
 * Whether one of these callers is meant. A `*` at the end stands for whatever follows. Pure; never throws; who has no name is
 * no one.
 *
 * @param names - What the system calls the caller, such as `user:1000`.
 */
export function allowsCaller(wanted: readonly string[], names: readonly string[]): boolean {
  return wanted.some((pattern) =>
    pattern.endsWith('*')
      ? names.some((name) => name.startsWith(pattern.slice(0, -1)))
      : names.includes(pattern),
  );
}

/** Why callers can never be meant on a host of this kind, or undefined. */
export function faultOfCallers(
  wanted: readonly string[] | undefined,
  dialect: PathDialect,
): string | undefined {
  if (wanted?.length === 0) return 'its "for" is empty; wanted at least one caller, or no "for"';
  const strange = wanted?.find((pattern) => !KNOWN[dialect].test(pattern));
  return strange === undefined
    ? undefined
    : `its "for" has ${quoteText(strange)}, which is not a caller on this system; wanted ${WANTED[dialect]}`;
}
