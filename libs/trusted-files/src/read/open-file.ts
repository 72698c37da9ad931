import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { errnoOf } from '@wins/base';
import { fileSystemError } from '../file-system-error.js';
import type { FileTrust, TrustOptions } from '../trust/file-trust.js';
import { loopAt } from '../trust/judge-posix-step.js';
import { distrusted, TrustedFileError } from '../trusted-file-error.js';

// Without these flags, opening a FIFO may block, and an opened terminal may become the controlling one. Windows lacks the flags.
const { O_NONBLOCK = 0, O_NOCTTY = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;

/** A file open for reading. The opener closes `handle`. */
export interface ReadableFile {
  /** Shown in errors. */
  readonly path: string;
  readonly handle: FileHandle;
}

/** A regular file open for reading. */
export interface OpenFile extends ReadableFile {
  readonly stats: Stats;
}

/**
 * Opens a regular file for reading. Refuses a folder, a device, a FIFO, and by default a symbolic link. On Windows it cannot
 * refuse links: first judge the path with a `FileTrust`.
 *
 * @throws TrustedFileError `notFound`, `accessDenied`, `notRegularFile`, `notTrusted` (a link), `inUse`, `unknown`.
 */
export async function openRegularFile(
  path: string,
  { followLinks = false }: TrustOptions = {},
): Promise<OpenFile> {
  const flags = constants.O_RDONLY | O_NONBLOCK | O_NOCTTY | (followLinks ? 0 : O_NOFOLLOW);
  let handle: FileHandle;
  try {
    handle = await open(path, flags);
  } catch (error) {
    if (!followLinks || errnoOf(error) !== 'ELOOP') throw fileSystemError(error, 'read', path);
    const { rule, found } = loopAt(path);
    throw new TrustedFileError('notTrusted', 'read', path, found, { cause: error, rule });
  }
  try {
    const stats = await handle.stat();
    if (stats.isFile()) return { path, handle, stats };
    const found = stats.isDirectory() ? 'it is a folder' : 'it is a device, a pipe or a socket';
    throw new TrustedFileError('notRegularFile', 'read', path, found);
  } catch (error) {
    await handle.close();
    throw fileSystemError(error, 'read', path);
  }
}

/** Limit, because a trusted user may keep replacing the file. */
const MAX_ATTEMPTS = 10;

/**
 * Opens a regular file that only trusted users could have put there. After the judgement, checks that the path still leads to the
 * opened file; if a trusted user has replaced the file, opens and judges the new one.
 *
 * @throws TrustedFileError as {@link openRegularFile}; `notTrusted`; `changed` when it was replaced ten times.
 */
export async function openTrustedFile(
  path: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
  options: TrustOptions = {},
): Promise<OpenFile> {
  let wasMissing = false;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    try {
      const file = await openIfTrusted(path, trust, options);
      if (file !== undefined) return file;
      wasMissing = false;
    } catch (error) {
      // After a link was replaced, its earlier target may be removed while the path is followed. So look twice.
      const isMissing = error instanceof TrustedFileError && error.code === 'notFound';
      if (!isMissing || wasMissing || options.followLinks !== true) throw error;
      wasMissing = true;
    }
  }
  throw new TrustedFileError('changed', 'read', path, 'it was replaced each time it was opened');
}

/** Resolves with undefined if the path leads to another file than before. */
async function openIfTrusted(
  path: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
  options: TrustOptions,
): Promise<OpenFile | undefined> {
  const file = await openRegularFile(path, options);
  let isSame = false;
  try {
    const distrust = trust.distrustOfFile(path, options);
    if (distrust !== undefined) throw distrusted('read', path, distrust);
    const judged = await stat(path, { bigint: true });
    const opened = await file.handle.stat({ bigint: true });
    isSame = judged.ino === opened.ino && judged.dev === opened.dev;
    return isSame ? file : undefined;
  } catch (error) {
    throw fileSystemError(error, 'read', path);
  } finally {
    if (!isSame) await file.handle.close();
  }
}

const BLOCK_BYTES = 256 * 1024;

/** Size limit and abort signal of a read. */
export interface ReadLimits {
  /** A file with more bytes is refused, whatever size it reports. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads an open file from its beginning, in blocks of at most 256 KiB. A block is valid until the next one is requested.
 *
 * @throws TrustedFileError `tooLarge`, after yielding at most `maxBytes`; the reason of the signal; errors of Node.
 */
export async function* readBlocks(
  { handle, path }: ReadableFile,
  { maxBytes, signal }: ReadLimits,
): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  for (let position = 0; ;) {
    signal?.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    if (position > maxBytes) {
      const found = `it has more than ${maxBytes} bytes`;
      throw new TrustedFileError('tooLarge', 'read', path, found);
    }
    yield buffer.subarray(0, bytesRead);
  }
}

/** Reads a small open file. Allocates memory only as bytes arrive. @throws as {@link readBlocks}. */
export async function readWhole(file: ReadableFile, limits: ReadLimits): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const block of readBlocks(file, limits)) parts.push(Buffer.from(block));
  return Buffer.concat(parts);
}
