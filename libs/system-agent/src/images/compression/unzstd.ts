import { setImmediate } from 'node:timers/promises';
import { imageFailed } from '../image-failure.js';
import type { ByteReader } from './byte-reader.js';

const MAGIC = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;
/** Largest window that zstd itself accepts by default: `--long=27`. */
const MAX_WINDOW_BYTES = 128 * 1024 * 1024;
const MAX_BLOCK_BYTES = 128 * 1024;
/** Number of bytes to move before other work may run. The decoder moves its whole window for each block, even a small one. */
const BYTES_MOVED_AT_A_TIME = 256 * 1024 * 1024;
const WHAT = 'read zstd';

/** Decodes at most one block ahead. */
export async function* unzstd(input: ByteReader): AsyncGenerator<Buffer> {
  const { Decompress } = await import('fzstd');
  let moved = 0;
  while ((await input.peek(1)).length > 0) {
    const magic = await input.read(4);
    if ((magic.readUInt32LE() & ~15) === SKIPPABLE) {
      await input.skip((await input.read(4)).readUInt32LE());
      continue;
    }
    if (magic.readUInt32LE() !== MAGIC)
      throw imageFailed(WHAT, 'other bytes behind a frame', 'a frame');
    const { header, windowBytes, checksumBytes } = await readFrameHeader(input);
    const decoded: Buffer[] = [];
    const decoder = new Decompress((block) => decoded.push(Buffer.from(block)));
    decoder.push(Buffer.concat([magic, header]));
    for (let last = false; !last;) {
      const block = await readBlock(input);
      last = block.last;
      decoder.push(block.bytes);
      moved += windowBytes;
      if (moved >= BYTES_MOVED_AT_A_TIME) {
        moved = 0;
        await setImmediate();
      }
      yield* decoded.splice(0);
    }
    // Nothing verifies the checksum, because layers and archives have digests.
    decoder.push(await input.read(checksumBytes), true);
    yield* decoded;
  }
}

async function readFrameHeader(input: ByteReader) {
  const descriptor = (await input.peek(1)).at(0) ?? 0;
  const single = (descriptor & 32) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(single) : 2 ** sizeFlag;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const header = await input.read(1 + Number(!single) + dictionaryBytes + sizeBytes);
  if (dictionaryBytes > 0) throw imageFailed(WHAT, 'a frame with a dictionary', 'one without');
  const windowBytes = single ? contentBytes(header.subarray(1)) : windowOf(header.readUInt8(1));
  if (windowBytes > MAX_WINDOW_BYTES)
    throw imageFailed(WHAT, `a window of ${windowBytes} bytes`, `at most ${MAX_WINDOW_BYTES}`);
  return { header, windowBytes, checksumBytes: (descriptor & 4) === 0 ? 0 : 4 };
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function contentBytes(size: Buffer): number {
  if (size.length === 8) return Number(size.readBigUInt64LE());
  return size.readUIntLE(0, size.length) + (size.length === 2 ? 256 : 0);
}

async function readBlock(input: ByteReader) {
  const header = (await input.peek(3)).readUIntLE(0, 3);
  const bytes = header >> 3;
  if (bytes > MAX_BLOCK_BYTES)
    throw imageFailed(WHAT, `a block of ${bytes} bytes`, `at most ${MAX_BLOCK_BYTES}`);
  const isRepeated = ((header >> 1) & 3) === 1;
  return { last: (header & 1) === 1, bytes: await input.read(3 + (isRepeated ? 1 : bytes)) };
}
