/** A custom decoder, because no maintained package decodes LZ4 frames incrementally without a native addon. */
import { imageFailed } from '../image-failure.js';
import type { ByteReader } from './byte-reader.js';

const MAGIC = 0x184d2204;
const SKIPPABLE = 0x184d2a50;
const HISTORY_BYTES = 64 * 1024;
const STORED = 0x80000000;

/** Yields one decoded block at a time, at most 4 MiB. Skips checksums, because layers have digests. */
export async function* unlz4(input: ByteReader): AsyncGenerator<Buffer> {
  while ((await input.peek(1)).length > 0) {
    const magic = (await input.read(4)).readUInt32LE();
    if ((magic & ~15) === SKIPPABLE) await input.skip((await input.read(4)).readUInt32LE());
    else if (magic === MAGIC) yield* readFrame(input);
    else throw refused('other bytes behind a frame');
  }
}

async function* readFrame(input: ByteReader): AsyncGenerator<Buffer> {
  const [flags = 0, descriptor = 0] = await input.read(2);
  const has = (bit: number) => (flags & bit) !== 0;
  if (flags >> 6 !== 1) throw refused('another version of the format');
  if (has(1)) throw refused('a frame with a dictionary');
  // Sizes 4 to 7 mean 64 KiB, 256 KiB, 1 MiB and 4 MiB.
  const size = (descriptor >> 4) & 7;
  if (size < 4) throw refused('an unknown size of blocks');
  const blockBytes = 2 ** (8 + 2 * size);
  await input.read((has(8) ? 8 : 0) + 1);
  // `output` begins with the history, which is earlier output that blocks may copy.
  const output = Buffer.alloc(HISTORY_BYTES + blockBytes);
  let history = 0;
  for (;;) {
    const word = (await input.read(4)).readUInt32LE();
    if (word === 0) break;
    const stored = word >= STORED;
    const size = stored ? word - STORED : word;
    if (size > blockBytes) throw refused('a block larger than the frame says');
    const block = await input.read(size);
    const end = stored
      ? HISTORY_BYTES + block.copy(output, HISTORY_BYTES)
      : decodeBlock(block, output, HISTORY_BYTES - history);
    yield Buffer.from(output.subarray(HISTORY_BYTES, end));
    history = Math.min(history + end - HISTORY_BYTES, HISTORY_BYTES);
    output.copyWithin(HISTORY_BYTES - history, end - history, end);
    if (has(16)) await input.read(4);
  }
  if (has(4)) await input.read(4);
}

/** Returns the end of the decoded bytes in `output`. */
function decodeBlock(block: Buffer, output: Buffer, historyStart: number): number {
  let from = 0;
  let to = HISTORY_BYTES;
  const byte = (): number => {
    const value = block[from];
    if (value === undefined) throw refused('a block that ends too early');
    from += 1;
    return value;
  };
  const length = (nibble: number): number => {
    let sum = nibble;
    for (let more = nibble === 15; more;) {
      const value = byte();
      sum += value;
      more = value === 255;
    }
    return sum;
  };
  for (;;) {
    const token = byte();
    const literals = length(token >> 4);
    if (from + literals > block.length || to + literals > output.length)
      throw refused('a literal beyond its block');
    block.copy(output, to, from, from + literals);
    from += literals;
    to += literals;
    if (from === block.length) return to;
    const offset = byte() + byte() * 256;
    const count = length(token & 15) + 4;
    if (offset === 0 || to - offset < historyStart || to + count > output.length)
      throw refused('a repetition beyond its block');
    // Byte by byte, because source and target may overlap.
    for (const end = to + count; to < end; to += 1) output[to] = output[to - offset] ?? 0;
  }
}

function refused(found: string) {
  return imageFailed('read LZ4', found, 'frames as the lz4 program writes them');
}
