import { createHash, randomBytes } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

import type { ExpectedDigest } from './expected-digest.js';
import type { HeldFile } from './held-file.js';
import { errnoOf, fileError } from '../node-errors.js';
import { ProcessError } from '../process-error.js';
import { quoteText } from '../quote-text.js';
import { removeStagingLeftovers, stagingTemporaryPath } from './staging-leftovers.js';

const COPY_BYTES = 256 * 1024;
const HELD_RETRY_DELAYS_MS = [5, 10, 20, 40, 80, 160];

/** The largest executable that is copied: 2 GiB; a larger one is refused with `stagingFailed`. */
export const MAX_EXECUTABLE_BYTES = 2 * 1024 * 1024 * 1024;

/** What is copied where, and which bytes it must be. */
export interface StagingRequest {
  readonly source: string;
  /** The final name, in the same directory as `source`. */
  readonly target: string;
  readonly expected: ExpectedDigest;
  /** The only SHA-256 digests that may run; undefined allows any content. */
  readonly pins: readonly string[] | undefined;
  readonly maxBytes: number;
  /** Called between blocks; what it throws ends the copy and nothing is left. */
  readonly checkpoint: () => void;
  /** Holds the copy against changes, where the host can. */
  readonly hold?: ((path: string) => Promise<HeldFile>) | undefined;
}

/** A copy that was verified and has only a temporary name yet, so that any number of starts can have one of a program. */
export interface VerifiedCopy {
  /** Of its bytes, lower-case hexadecimal. */
  readonly sha256: string;
  /**
   * Gives the copy its final name. Once, by the one start that may use that name.
   *
   * @throws ProcessError `stagingFailed`, or what `checkpoint` throws; the temporary file is gone then.
   */
  place(): Promise<StagedBinary>;
  /** Removes the temporary file; nothing when the copy was placed. Idempotent, never throws. */
  discard(): Promise<void>;
}

/** A verified copy under its final name. Where the host can, it is held: nobody changes it until it is closed. */
export interface StagedBinary extends HeldFile {
  /** Of the bytes that will run, lower-case hexadecimal. */
  readonly sha256: string;
}

/**
 * Copies an executable beside itself and tells the SHA-256 of the bytes that were written, which
 * are the bytes that will run: the source may change meanwhile without any effect. The copy is
 * complete, verified and on disk before it can get its final name (mode 0700), so that a crash never
 * leaves half a program under that name. What a crash left under a temporary name is removed first.
 *
 * Where a file can be held, the copy is held under its final name and then read once more: what ran in between could
 * have changed it, and nothing can from then on. The caller places or discards the copy, and closes what was placed once it runs.
 *
 * @throws ProcessError `notFound`, `pathNotTrusted`, `checksumMismatch`, `digestNotPinned`,
 * `stagingFailed`, or what `checkpoint` throws; the temporary file is gone then.
 */
export async function copyVerified(request: StagingRequest): Promise<VerifiedCopy> {
  const { sha256, temporary } = await copyBeside(request);
  const discard = (): Promise<void> => unlink(temporary).catch(() => undefined);
  const place = async (): Promise<StagedBinary> => {
    try {
      request.checkpoint();
      await renameOver(temporary, request.target, request);
    } catch (error) {
      await discard();
      throw error instanceof ProcessError ? error : failed(error, request.target);
    }
    return held(request, sha256);
  };
  return { sha256, place, discard };
}

async function held(request: StagingRequest, sha256: string): Promise<StagedBinary> {
  const { target, hold } = request;
  if (hold === undefined) return { sha256, close: () => undefined };
  const file = await hold(target);
  try {
    const found = await digestOf(target, request.checkpoint);
    if (found === sha256) return { sha256, close: () => file.close() };
    throw new ProcessError(
      'stagingFailed',
      `cannot run ${quoteText(target)}: the copy was changed after it was written; its sha256 is ${found}, wanted ${sha256}`,
      { path: target, rule: 'A16 copy changed' },
    );
  } catch (error) {
    file.close();
    throw error instanceof ProcessError ? error : failed(error, target);
  }
}

async function digestOf(path: string, checkpoint: () => void): Promise<string> {
  const sha256 = createHash('sha256');
  for await (const block of createReadStream(path, { highWaterMark: COPY_BYTES })) {
    sha256.update(block as Buffer);
    checkpoint();
  }
  return sha256.digest('hex');
}

async function copyBeside(
  request: StagingRequest,
): Promise<{ readonly sha256: string; readonly temporary: string }> {
  const { source, target } = request;
  await removeStagingLeftovers(target);
  request.checkpoint();
  const input = await opened(source, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const temporary = stagingTemporaryPath(target, process.pid, randomBytes(8).toString('hex'));
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const output = await opened(temporary, flags);
    try {
      let sha256: string;
      try {
        sha256 = await copyBlocks(input, output, request);
        await output.sync();
      } finally {
        // Linux refuses to run a file that anybody still holds open for writing.
        await output.close();
      }
      return { sha256, temporary };
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error instanceof ProcessError ? error : failed(error, target);
    }
  } finally {
    await input.close();
  }
}

// Where files can be held, whoever looks into the earlier copy, such as a virus scanner, holds it for a moment.
async function renameOver(from: string, to: string, { hold }: StagingRequest): Promise<void> {
  for (const delayMs of hold === undefined ? [] : HELD_RETRY_DELAYS_MS) {
    try {
      await rename(from, to);
      return;
    } catch (error) {
      if (!['EPERM', 'EACCES', 'EBUSY'].includes(errnoOf(error) ?? '')) throw error;
    }
    await delay(delayMs);
  }
  await rename(from, to);
}

async function opened(path: string, flags: number): Promise<FileHandle> {
  try {
    return await open(path, flags, 0o700);
  } catch (error) {
    throw (flags & constants.O_CREAT) === 0
      ? fileError(error, 'cannot open', path, 'stagingFailed')
      : failed(error, path);
  }
}

async function copyBlocks(
  input: FileHandle,
  output: FileHandle,
  request: StagingRequest,
): Promise<string> {
  const { source, expected, pins } = request;
  const sha256 = createHash('sha256');
  const weaker = expected.algorithm === 'sha1' ? createHash('sha1') : undefined;
  const block = Buffer.allocUnsafeSlow(COPY_BYTES);
  for (let position = 0; ;) {
    const { bytesRead } = await input.read(block, 0, COPY_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    if (position > request.maxBytes) {
      throw new ProcessError(
        'stagingFailed',
        `cannot copy ${quoteText(source)}: it is larger than ${request.maxBytes} bytes`,
        { path: source },
      );
    }
    const bytes = block.subarray(0, bytesRead);
    sha256.update(bytes);
    weaker?.update(bytes);
    for (let written = 0; written < bytesRead;) {
      written += (await output.write(bytes, written)).bytesWritten;
    }
    request.checkpoint();
  }
  const digest = sha256.digest('hex');
  const found = weaker?.digest('hex') ?? digest;
  if (found !== expected.hex) {
    throw new ProcessError(
      'checksumMismatch',
      `cannot run ${quoteText(source)}: the host's file has ${expected.algorithm} ${found}, the client's has ${expected.hex}; wanted the same file on both sides`,
      { path: source, rule: 'A16 checksum differs' },
    );
  }
  if (pins !== undefined && !pins.some((pin) => pin.toLowerCase() === digest)) {
    throw new ProcessError(
      'digestNotPinned',
      `cannot run ${quoteText(source)}: its sha256 ${digest} is not among the ${pins.length} pinned for this path`,
      { path: source, rule: 'A17 digest not pinned' },
    );
  }
  return digest;
}

function failed(error: unknown, target: string): ProcessError {
  const translated = fileError(error, 'cannot write the verified copy', target, 'stagingFailed');
  if (translated.code === 'stagingFailed') return translated;
  return new ProcessError('stagingFailed', translated.message, { cause: error, path: target });
}
