import { errnoOf } from '@wins/wins-program';

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not',
  EBADF: 'it is closed',
  EFBIG: 'the file would be too large',
  EIO: 'the disk failed',
  EISDIR: 'it is a folder',
  ELOOP: 'its links lead in a circle',
  EMFILE: 'this process has no file descriptors left',
  ENOENT: 'there is no such folder',
  ENOSPC: 'no space is left there',
  ENOTDIR: 'a part of its path is no folder',
  EPERM: 'this user may not',
  EROFS: 'its file system is read-only',
};

/** What the system's error means, for the end of a message; its code follows for whoever looks it up. */
export function reasonOf(error: unknown): string {
  const errno = errnoOf(error) ?? 'unknown';
  const words = WORDS[errno];
  return words === undefined ? `the system says ${errno}` : `${words} (${errno})`;
}
