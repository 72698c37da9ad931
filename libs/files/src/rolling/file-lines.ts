import type { OpenFile } from '@wins/trusted-files';
import { createHash, hash, type Hash } from 'node:crypto';

const LINE_END = 0x0a;

/** Options of `NumberedFiles.lines`. */
export interface LineOptions {
  /** Longest line that keeps its text, in bytes without the line feed. A longer line has only its digest. */
  readonly maxLineBytes: number;
  /** Reads only this many bytes at the end of the file, and skips the first line there, which may be cut. Default: the whole file. */
  readonly lastBytes?: number | undefined;
  /** Whether a missing file is an error. Default: it counts as empty, because the oldest file may be removed during reading. */
  readonly mustExist?: boolean | undefined;
}

/** A line of a text file, or the digest of one that is too long to keep. */
export interface FileLine {
  /** The first line read has number 1. */
  readonly number: number;
  /** Undefined when the line is longer than the limit. */
  readonly text: string | undefined;
  /** Covers the bytes without the line feed. */
  readonly sha256: string;
  /** Without the line end. */
  readonly sizeBytes: number;
  /** Offset in the file after the line end. */
  readonly endBytes: number;
  /** False for a last line that has no line end. */
  readonly isEnded: boolean;
}

/**
 * Reads a file line by line, then closes it. Yields the lines of each chunk together, because a step of an asynchronous loop costs more than a line.
 * `maxLineBytes` limits the memory. @throws what Node throws.
 */
export async function* fileLines(
  { handle, stats }: OpenFile,
  { maxLineBytes, lastBytes = Infinity }: LineOptions,
): AsyncGenerator<readonly FileLine[]> {
  const start = Math.max(0, stats.size - lastBytes);
  let isPart = start > 0;
  let endBytes = start;
  let line = new PartialLine(1, maxLineBytes);
  for await (const chunk of handle.createReadStream({ start }) as AsyncIterable<Buffer>) {
    const lines: FileLine[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, from)) {
      line.add(chunk.subarray(from, end));
      endBytes += line.sizeBytes + 1;
      if (!isPart) lines.push(line.finish(endBytes, true));
      line = new PartialLine(line.number + (isPart ? 0 : 1), maxLineBytes);
      isPart = false;
      from = end + 1;
    }
    line.add(chunk.subarray(from));
    yield lines;
  }
  if (line.sizeBytes > 0 && !isPart) yield [line.finish(endBytes + line.sizeBytes, false)];
}

class PartialLine {
  sizeBytes = 0;
  #pieces: Buffer[] = [];
  #hash: Hash | undefined;

  readonly #maxBytes: number;

  constructor(
    readonly number: number,
    maxBytes: number,
  ) {
    this.#maxBytes = maxBytes;
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.sizeBytes += piece.length;
    if (this.#hash !== undefined) {
      this.#hash.update(piece);
      return;
    }
    this.#pieces.push(piece);
    if (this.sizeBytes <= this.#maxBytes) return;
    this.#hash = createHash('sha256');
    for (const kept of this.#pieces) this.#hash.update(kept);
    this.#pieces = [];
  }

  finish(endBytes: number, isEnded: boolean): FileLine {
    const { number, sizeBytes } = this;
    const facts = { number, sizeBytes, endBytes, isEnded };
    if (this.#hash !== undefined)
      return { ...facts, sha256: this.#hash.digest('hex'), text: undefined };
    const [first] = this.#pieces;
    const bytes = first?.length === sizeBytes ? first : Buffer.concat(this.#pieces);
    // Lazy, because most callers need no digest.
    return {
      ...facts,
      text: bytes.toString('utf8'),
      get sha256() {
        return hash('sha256', bytes, 'hex');
      },
    };
  }
}
