import type { OutputStream } from './output-log.js';

/** Maximum size of a block and of a reader's chunk. */
export const MAX_BLOCK_BYTES = 64 * 1024;

// From this size on, keeping the received buffer is cheaper than copying it.
const KEEP_FROM_BYTES = 16 * 1024;
// Minimum cost of a block, because a child can alternate tiny writes on both streams to create many blocks.
const MIN_COST_BYTES = 512;

/**
 * Consecutive bytes of one stream. Keeps a large piece as it is; gathers small pieces in its own buffer of up to 64
 * KiB. Written bytes never change, so readers may hold views.
 */
export class OutputBlock {
  readonly stream: OutputStream;
  /** Position of this block in the log: the sum of the `cost` of all earlier blocks, including dropped ones. */
  readonly startsAt: number;
  /** Number of output bytes before this block. */
  readonly offset: number;
  readonly timeMs: number;
  readonly #own: boolean;
  #buffer: Buffer;
  #length: number;

  constructor(
    { stream, offset, timeMs }: Pick<OutputBlock, 'stream' | 'offset' | 'timeMs'>,
    piece: Buffer,
    startsAt: number,
  ) {
    this.stream = stream;
    this.offset = offset;
    this.timeMs = timeMs;
    this.startsAt = startsAt;
    this.#own = piece.length < KEEP_FROM_BYTES;
    this.#length = piece.length;
    this.#buffer = piece;
    if (this.#own) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(MIN_COST_BYTES, piece.length));
      piece.copy(this.#buffer);
    }
  }

  get length(): number {
    return this.#length;
  }

  /** Bytes that count toward the log's limit; the block uses at most twice as much memory. */
  get cost(): number {
    return Math.max(this.#length, MIN_COST_BYTES);
  }

  /** Appends a small piece of the same stream; returns false if it refuses the piece. */
  gather(stream: OutputStream, piece: Buffer): boolean {
    const length = this.#length + piece.length;
    const small = this.#own && piece.length < KEEP_FROM_BYTES && length <= MAX_BLOCK_BYTES;
    if (!small || stream !== this.stream) return false;
    if (length > this.#buffer.length) {
      const wanted = Math.max(length, this.#buffer.length * 2);
      const grown = Buffer.allocUnsafeSlow(Math.min(MAX_BLOCK_BYTES, wanted));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    piece.copy(this.#buffer, this.#length);
    this.#length = length;
    return true;
  }

  bytesFrom(offset: number): Buffer {
    return this.#buffer.subarray(offset, this.#length);
  }
}
