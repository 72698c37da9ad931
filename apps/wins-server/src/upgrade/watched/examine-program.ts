import { ProcessError, type ProcessHost } from '@wins/process-manager';
import { messageOf } from '@wins/wins-program';
import { createHash } from 'node:crypto';
import { constants, lstatSync } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import path from 'node:path';

/** What was found out about a watched program. */
export type Examination =
  | { readonly kind: 'program'; readonly sha1: string; readonly sha256: string }
  /** Others could have written it, or it cannot be read: what was found and wanted. */
  | { readonly kind: 'unfit'; readonly found: string }
  /** It was another one before it had been read. */
  | { readonly kind: 'moved' };

/** Judges the place of a file, and keeps others from writing it where that can be. */
export type FileGuard = Pick<ProcessHost, 'dialect' | 'assertTrustedFile' | 'holdFile'>;

const CHUNK_BYTES = 1024 * 1024;
const LARGEST_BYTES = 2 * 1024 ** 3;
const WRITABLE_BY_OTHERS = 0o022;
// Opening a FIFO must not wait. Windows has neither flag.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

/** What tells one state of a file from another; undefined when there is none or it is empty. A link is not followed. */
export function stateOfFile(file: string): string | undefined {
  try {
    const { ino, size, mtimeNs, ctimeNs } = lstatSync(file, { bigint: true });
    return size === 0n ? undefined : `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch {
    return undefined; // or out of reach, which comes to the same
  }
}

/**
 * Judges who could have put a program where it is, and reads it whole if nobody could but administrators and ourselves: whoever
 * writes it decides what the service runs.
 *
 * @param state - Of the file when it was looked at: what has another state by the end is not told of.
 * @throws the reason of `signal`.
 */
export async function examineProgram(
  file: string,
  state: string,
  guard: FileGuard,
  signal: AbortSignal,
): Promise<Examination> {
  try {
    await assertTrustedProgram(file, guard);
    // Where it can be had: nobody writes it any more, and nobody will while it is read.
    const held = await guard.holdFile?.(file);
    try {
      const digests = await digestsOf(file, signal);
      return stateOfFile(file) === state ? { kind: 'program', ...digests } : { kind: 'moved' };
    } finally {
      held?.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (stateOfFile(file) !== state) return { kind: 'moved' };
    return { kind: 'unfit', found: messageOf(error) };
  }
}

/**
 * Succeeds when only the system's administrators or the daemon's user could have put the file there, or put anything beside it.
 *
 * @throws ProcessError as {@link ProcessHost.assertTrustedFile}; `pathNotTrusted` for the folder as well.
 */
export async function assertTrustedProgram(
  file: string,
  guard: Pick<FileGuard, 'dialect' | 'assertTrustedFile'>,
): Promise<void> {
  await guard.assertTrustedFile(file);
  if (guard.dialect !== 'posix') return;
  const folder = path.posix.dirname(file);
  const { mode } = await lstat(folder);
  if ((mode & WRITABLE_BY_OTHERS) === 0) return;
  // In a sticky one others cannot replace what is ours, but they can put a link there to what is ours elsewhere.
  const rule = 'A7 writable by other users';
  const found = `it is writable by other users (mode ${(mode & 0o7777).toString(8)})`;
  const wanted = "wanted a folder that only root or the daemon's user can write to";
  const message = `cannot take ${file} because of ${folder}: ${found}; ${wanted}`;
  throw new ProcessError('pathNotTrusted', message, { path: file, rule });
}

async function digestsOf(
  file: string,
  signal: AbortSignal,
): Promise<{ readonly sha1: string; readonly sha256: string }> {
  const source = await open(file, constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (!(await source.stat()).isFile()) throw new Error(`cannot take ${file}: it is no file`);
    const [sha1, sha256] = [createHash('sha1'), createHash('sha256')];
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let total = 0; ;) {
      signal.throwIfAborted();
      const { bytesRead } = await source.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) return { sha1: sha1.digest('hex'), sha256: sha256.digest('hex') };
      total += bytesRead;
      if (total > LARGEST_BYTES) throw new Error(`cannot take ${file}: it has more than 2 GiB`);
      sha1.update(chunk.subarray(0, bytesRead));
      sha256.update(chunk.subarray(0, bytesRead));
    }
  } finally {
    await source.close();
  }
}
