/** The two streams of a child. */
export type OutputStream = 'stdout' | 'stderr';

/** The largest block, and so the largest chunk a reader gets: 64 KiB. */
export const MAX_BLOCK_BYTES = 64 * 1024;

// From here on keeping the buffer that came is cheaper than copying it.
const KEEP_FROM_BYTES = 16 * 1024;

// A block costs memory even when it holds one byte; charging for that keeps the bound honest for a
// child that alternates tiny writes on both streams.
const MIN_COST_BYTES = 512;

/**
 * A run of bytes of one stream. Large pieces are kept as they came; small ones are gathered in a
 * buffer of the block's own, which grows up to 64 KiB. Bytes once written never change, so readers
 * may hold views of them.
 */
export class OutputBlock {
  readonly stream: OutputStream;
  /** The cost of all blocks that ever came before this one. */
  readonly startsAt: number;
  readonly #own: boolean;
  #buffer: Buffer;
  #length: number;

  constructor(stream: OutputStream, piece: Buffer, startsAt: number) {
    this.stream = stream;
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

  /** Cost of the block against the limit of its log, in bytes; it holds at most twice as much memory. */
  get cost(): number {
    return Math.max(this.#length, MIN_COST_BYTES);
  }

  /** Takes the piece in if it belongs to the same stream and fits; tells whether it did. */
  gather(stream: OutputStream, piece: Buffer): boolean {
    const length = this.#length + piece.length;
    const small = this.#own && piece.length < KEEP_FROM_BYTES && length <= MAX_BLOCK_BYTES;
    if (!small || stream !== this.stream) return false;
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.min(MAX_BLOCK_BYTES, Math.max(length, this.#buffer.length * 2)),
      );
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
