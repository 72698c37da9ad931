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
  const found = await distrustOf(path, 'file', ownUid);
  if (found === undefined) return;
  throw new ProcessError(
    'pathNotTrusted',
    `cannot run ${quoteText(path)}${found.where}: ${found.refused}; wanted a regular file that only root or the daemon's user can replace`,
    { path, rule: found.refused },
  );
}

/**
 * Succeeds only when nobody but root and the daemon's own user could have put this directory where it is, or anything into it:
 * as for a file, and the directory itself may not even be a sticky one, in which others can plant what was not there.
 *
 * @throws ProcessError `notFound`, `pathNotTrusted` (with the rule), `unknown`.
 */
export async function assertTrustedPosixDirectory(path: string, ownUid: number): Promise<void> {
  const found = await distrustOf(path, 'directory', ownUid);
  if (found === undefined) return;
  throw new ProcessError(
    'pathNotTrusted',
    `cannot work in ${quoteText(path)}${found.where}: ${found.refused}; wanted a directory that only root or the daemon's user can write to`,
    { path, rule: found.refused },
  );
}

async function distrustOf(
  path: string,
  wanted: 'file' | 'directory',
  ownUid: number,
): Promise<{ readonly refused: string; readonly where: string } | undefined> {
  for (const step of stepsTo(path)) {
    const kind = step === path ? wanted : 'above';
    const refused = refusal(await statOf(step), kind, ownUid);
    if (refused === undefined) continue;
    return { refused, where: step === path ? '' : ` because of ${quoteText(step)}` };
  }
  return undefined;
}

function stepsTo(path: string): string[] {
  const steps = ['/'];
  for (let at = path.indexOf('/', 1); at !== -1; at = path.indexOf('/', at + 1)) {
    steps.push(path.slice(0, at));
  }
  if (path !== '/') steps.push(path);
  return steps;
}

async function statOf(path: string): Promise<Stats> {
  try {
    return await lstat(path);
  } catch (error) {
    throw fileError(error, 'cannot inspect', path, 'unknown');
  }
}

function refusal(
  stats: Stats,
  wanted: 'file' | 'directory' | 'above',
  ownUid: number,
): string | undefined {
  if (stats.isSymbolicLink()) return 'A7 symbolic link';
  if (wanted === 'directory' && !stats.isDirectory()) return 'A7 not a directory';
  if (wanted === 'file' ? !stats.isFile() : !stats.isDirectory()) return 'A7 not a regular file';
  if (stats.uid !== 0 && stats.uid !== ownUid) return 'A7 owned by another user';
  const sticky = wanted === 'above' && (stats.mode & STICKY) !== 0;
  if (!sticky && (stats.mode & WRITABLE_BY_OTHERS) !== 0) return 'A7 writable by other users';
  return undefined;
}
