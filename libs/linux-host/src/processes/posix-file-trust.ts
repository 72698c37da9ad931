import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/** Why a path is not trusted. */
export interface PosixDistrust {
  /** The rule that refused, such as `A7 symbolic link`. */
  readonly rule: string;
  /** The path itself, or the folder above it because of which it is refused. */
  readonly path: string;
}

/**
 * Looks whether anybody but root and this user could have put a file where it is: no symbolic link in the path (so the real
 * path is the given one), every parent and the file owned by root or us, and not writable by group or others (POSIX ACLs show
 * in the group bits). A sticky directory such as `/tmp` passes, because there only the owner can replace an entry. A directory
 * is judged as a file is, and may not be a sticky one itself: others can create in it what was not there.
 *
 * The walk goes down from the root, so each step is read through parents that are already known to be safe, and what was found
 * stays true. The link count is no criterion: another name of the inode gives no right that its owner and mode do not give,
 * and the mode is checked.
 *
 * @returns undefined when it is trusted.
 * @throws what `lstat` throws, for instance `ENOENT`.
 */
export async function posixDistrustOf(
  path: string,
  wanted: 'file' | 'directory',
  ownUid: number,
): Promise<PosixDistrust | undefined> {
  for (const step of stepsTo(path)) {
    const rule = refusal(await lstat(step), step === path ? wanted : 'above', ownUid);
    if (rule !== undefined) return { rule, path: step };
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
