import { errnoOf, EXIT, messageOf } from '@wins/wins-program';
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, rename, unlink, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../command-error.js';

/** A file that is to be at another place. */
export interface Delivery {
  /** A plain file, or links that lead to one. */
  readonly from: string;
  /** A path in a folder that is there; a plain file, or nothing yet. */
  readonly to: string;
  /** The digest that it must have: 64 hexadecimal digits. */
  readonly sha256?: string | undefined;
  /** How long to wait for whoever holds the target. */
  readonly waitTimeoutMs: number;
}

/** What became of it. */
export interface Delivered {
  /** False when the target had the same bytes already. */
  readonly changed: boolean;
  readonly sha256: string;
}

/** More than any release has. */
const LARGEST_BYTES = 512 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 1000;
/** What somebody writes now is not yet so old, what a killed delivery left is some time. */
const ABANDONED_AFTER_MS = 10 * 60_000;
// Opening a FIFO must not wait, and a link that takes the target's place is not followed. Windows has neither flag.
const { O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
/** Scanners, and a target that runs, hold a file for a while; elsewhere than on Windows nobody keeps a name from being replaced. */
const HELD = process.platform === 'win32' ? ['EBUSY', 'EPERM', 'EACCES'] : ['EBUSY'];
const FOUND: Readonly<Partial<Record<string, string>>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'access is denied',
  EPERM: 'the operation is not permitted',
  EBUSY: 'another program holds the file',
};

/**
 * Copies a file to another place as one act: whoever opens the target, after a power failure too, finds the old bytes or the new
 * ones. Nothing is written when they are the same.
 *
 * On Windows a new file has the access list that its folder gives; elsewhere the mode of the file that it replaces, else that of the
 * source, without write permission for others. The folder is not made: who may use it is for whoever owns the host to say.
 *
 * @throws CommandError 127: no such source, or no folder for the target. 126: another digest than wanted, a source above 512 MiB,
 *   or a source or target that is no plain file. 125: everything else. The target is untouched then.
 */
export async function deliverFile(delivery: Delivery): Promise<Delivered> {
  const { from, to } = delivery;
  const source = await openSource(from);
  try {
    const sha256 = await digest(source, (found) => refuse(`${from} ${found}`));
    if (delivery.sha256 !== undefined && delivery.sha256.toLowerCase() !== sha256) {
      throw refuse(`${from} has the SHA-256 ${sha256}; wanted ${delivery.sha256.toLowerCase()}`);
    }
    const old = await lookAt(to);
    if (old !== undefined && (await hasDigest(to, sha256))) return { changed: false, sha256 };
    const mode = ((old ?? (await source.stat())).mode & 0o755) | 0o600;
    await replace(source, delivery, { sha256, mode });
    return { changed: true, sha256 };
  } catch (error) {
    throw failure(delivery, error);
  } finally {
    await source.close();
  }
}

async function openSource(from: string): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(from, constants.O_RDONLY | O_NONBLOCK);
  } catch (error) {
    const isMissing = errnoOf(error) === 'ENOENT';
    const found = isMissing ? 'no such file' : `cannot be read (${errnoOf(error) ?? 'unknown'})`;
    throw new CommandError(
      `${from}: ${found}`,
      isMissing ? EXIT.client.notFound : EXIT.client.failed,
      {
        cause: error,
      },
    );
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw refuse(`${from} is no plain file`);
}

/** @returns Undefined when there is nothing yet. */
async function lookAt(to: string): Promise<{ readonly mode: number } | undefined> {
  try {
    const stats = await lstat(to);
    if (stats.isFile()) return stats;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  throw refuse(`${to} is a link, a folder or something else that is no plain file`);
}

async function hasDigest(file: string, sha256: string): Promise<boolean> {
  try {
    const handle = await open(file, constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      return (await digest(handle, () => new Error('too large'))) === sha256;
    } finally {
      await handle.close();
    }
  } catch {
    // What cannot be compared is replaced.
    return false;
  }
}

async function replace(
  source: FileHandle,
  { to, waitTimeoutMs }: Delivery,
  { sha256, mode }: { readonly sha256: string; readonly mode: number },
): Promise<void> {
  const folder = path.dirname(to);
  await sweep(folder, path.basename(to));
  const temporary = path.join(
    folder,
    `.${path.basename(to)}.${randomBytes(8).toString('hex')}.new`,
  );
  let isMine = false;
  try {
    const handle = await open(temporary, 'wx+', mode);
    isMine = true;
    try {
      for await (const chunk of chunks(source)) await writeWhole(handle, chunk);
      // The creation mask has no say.
      await handle.chmod(mode);
      await handle.sync();
      const written = await digest(handle, () => new Error('too large'));
      if (written !== sha256) throw new CommandError(`it has changed meanwhile: ${written}`);
    } finally {
      await handle.close();
    }
    await renameWhenFree(temporary, to, waitTimeoutMs);
    isMine = false;
    await syncFolder(folder);
  } finally {
    if (isMine) await unlink(temporary).catch(() => undefined);
  }
}

async function renameWhenFree(from: string, to: string, waitTimeoutMs: number): Promise<void> {
  const endMs = performance.now() + waitTimeoutMs;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS)) {
    try {
      await lookAt(to);
      await rename(from, to);
      return;
    } catch (error) {
      const leftMs = endMs - performance.now();
      if (!HELD.includes(errnoOf(error) ?? '') || leftMs <= 0) throw error;
      await delay(Math.min(delayMs, leftMs));
    }
  }
}

/** Removes what deliveries that were killed left of the same file. */
async function sweep(folder: string, name: string): Promise<void> {
  const isOurs = (entry: string): boolean =>
    entry.startsWith(`.${name}.`) && /^[0-9a-f]{16}\.new$/.test(entry.slice(name.length + 2));
  for (const entry of (await readdir(folder)).filter(isOurs)) {
    const file = path.join(folder, entry);
    try {
      const age = Date.now() - (await lstat(file)).mtimeMs;
      if (age > ABANDONED_AFTER_MS) await unlink(file);
    } catch {
      // It stays for the next delivery.
    }
  }
}

/** Makes a rename survive a power failure. Windows cannot open a folder, and needs no such step. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function digest(handle: FileHandle, tooLarge: (found: string) => Error): Promise<string> {
  const hash = createHash('sha256');
  let length = 0;
  for await (const chunk of chunks(handle)) {
    length += chunk.length;
    if (length > LARGEST_BYTES) throw tooLarge(`has more than ${LARGEST_BYTES} bytes`);
    hash.update(chunk);
  }
  return hash.digest('hex');
}

/** The file from its beginning; a chunk is valid until the next one is asked for. No more than the limit and one chunk. */
async function* chunks(handle: FileHandle): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; position <= LARGEST_BYTES;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function writeWhole(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    offset += (await handle.write(bytes, offset)).bytesWritten;
  }
}

function refuse(found: string): CommandError {
  return new CommandError(found, EXIT.client.refused);
}

function failure({ from, to }: Delivery, error: unknown): CommandError {
  const tried = `cannot deliver ${from} to ${to}`;
  const options = { cause: error };
  if (error instanceof CommandError) {
    return new CommandError(`${tried}: ${error.message}`, error.exitCode, options);
  }
  const code = errnoOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const found = `there is no folder ${path.dirname(to)}, and none is made`;
    return new CommandError(`${tried}: ${found}`, EXIT.client.notFound, options);
  }
  const found = FOUND[code ?? ''] ?? 'an error of the system';
  return new CommandError(`${tried}: ${found} (${messageOf(error)})`, EXIT.client.failed, options);
}
