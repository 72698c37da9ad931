import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';

import { fileError } from '../node-errors.js';
import { ProcessError } from '../process-error.js';
import { quoteText } from '../quote-text.js';

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * Succeeds only when nobody but root and the daemon's own user could have put this file where it
 * is: no symbolic link in the path (so the real path is the listed one), every parent and the file
 * owned by root or us, and not writable by group or others (POSIX ACLs show in the group bits). A
 * sticky directory such as `/tmp` passes, because there only the owner can replace an entry.
 *
 * The walk goes down from the root, so each step is read through parents that are already known to
 * be safe, and what was found stays true. The link count is no criterion: another name of the
 * inode gives no right that its owner and mode do not give, and the mode is checked.
 *
 * @throws ProcessError `notFound`, `pathNotTrusted` (with the rule), `unknown`.
 */
export async function assertTrustedPosixFile(path: string, ownUid: number): Promise<void> {
  for (const step of stepsTo(path)) {
    const refused = refusal(await statOf(step), step === path, ownUid);
    if (refused !== undefined) {
      const where = step === path ? '' : ` because of ${quoteText(step)}`;
      throw new ProcessError(
        'pathNotTrusted',
        `cannot run ${quoteText(path)}${where}: ${refused}; wanted a regular file that only root or the daemon's user can replace`,
        { path, rule: refused },
      );
    }
  }
}

function stepsTo(path: string): string[] {
  const steps = ['/'];
  for (let at = path.indexOf('/', 1); at !== -1; at = path.indexOf('/', at + 1)) {
    steps.push(path.slice(0, at));
  }
  steps.push(path);
  return steps;
}

async function statOf(path: string): Promise<Stats> {
  try {
    return await lstat(path);
  } catch (error) {
    throw fileError(error, 'cannot inspect', path, 'unknown');
  }
}

function refusal(stats: Stats, last: boolean, ownUid: number): string | undefined {
  if (stats.isSymbolicLink()) return 'A7 symbolic link';
  if (last ? !stats.isFile() : !stats.isDirectory()) return 'A7 not a regular file';
  if (stats.uid !== 0 && stats.uid !== ownUid) return 'A7 owned by another user';
  const sticky = !last && (stats.mode & STICKY) !== 0;
  if (!sticky && (stats.mode & WRITABLE_BY_OTHERS) !== 0) return 'A7 writable by other users';
  return undefined;
}
