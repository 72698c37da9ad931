import { errnoOf } from '@wins/wins-program';
import type { Stats } from 'node:fs';
import { lstat, mkdir, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describePipeError } from './node-errors.js';
import type { PipePath } from './pipe-path.js';

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * Makes sure that only this user and root can put, swap or remove files in the directory of a socket.
 *
 * That holds when no part of its path is a symbolic link, every directory on it belongs to one of the
 * two, the last one is writable by no one else, and so is each above it unless it is sticky.
 *
 * @param create makes the directory, mode 0700, when it is missing; never its parents.
 * @throws PipeError `securityUnavailable` naming the directory and what is wrong with it. Errors of
 * the file system come out as Node made them.
 */
export async function requirePrivateDirectory(path: PipePath, create: boolean): Promise<void> {
  const directory = dirname(path.address);
  if (create) await makeDirectory(directory);
  const real = await realpath(directory);
  if (real !== directory)
    throw refusal(path, `${directory} goes through a symbolic link; use ${real} instead`);
  const uid = process.getuid?.() ?? 0;
  for (let at = directory, holdsSocket = true; ; at = dirname(at), holdsSocket = false) {
    const fault = directoryFault(await lstat(at), uid, holdsSocket);
    if (fault !== undefined) throw refusal(path, `${at} ${fault}`);
    if (at === dirname(at)) return;
  }
}

/** Says what makes a directory unsafe for sockets of `uid`, or nothing. */
export function directoryFault(
  found: Pick<Stats, 'uid' | 'mode' | 'isDirectory'>,
  uid: number,
  holdsSocket: boolean,
): string | undefined {
  if (!found.isDirectory()) return 'is not a directory';
  if (found.uid !== uid && found.uid !== 0)
    return `belongs to user ${found.uid}; it must belong to user ${uid} or to root`;
  // In a sticky directory others cannot touch the entries of ours, but they can be first with a name.
  const excused = !holdsSocket && (found.mode & STICKY) !== 0;
  if ((found.mode & WRITABLE_BY_OTHERS) !== 0 && !excused) {
    const mode = (found.mode & 0o7777).toString(8);
    return `has mode ${mode}, so others can write to it; take that right away with chmod go-w`;
  }
  return undefined;
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

function refusal(path: PipePath, found: string): Error {
  return describePipeError('securityUnavailable', 'listen on', path, found);
}
