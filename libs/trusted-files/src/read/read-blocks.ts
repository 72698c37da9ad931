import type { ReadableFile } from './open-file.js';
import { TrustedFileError } from '../trusted-file-error.js';

const BLOCK_BYTES = 256 * 1024;

/** How much of a file is read, and how long. */
export interface ReadLimits {
  /** A file with more bytes is refused; what it says of its size does not count. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads an open file from its beginning, wherever it was read before. A block has 256 KiB at most, and is valid until the next
 * one is asked for.
 *
 * @throws TrustedFileError `tooLarge`, after `maxBytes` were given out at most; the reason of the signal; what Node throws.
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

/**
 * Reads an open file whole. For small files: the memory is allocated as the bytes come.
 *
 * @throws as {@link readBlocks}.
 */
export async function readWhole(file: ReadableFile, limits: ReadLimits): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const block of readBlocks(file, limits)) parts.push(Buffer.from(block));
  return Buffer.concat(parts);
}
