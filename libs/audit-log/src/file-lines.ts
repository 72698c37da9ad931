import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { hashOf } from './audit-record.js';

const LINE_END = 0x0a;

/** One line of a file. */
export interface FileLine {
  /** From 1. */
  readonly number: number;
  /** Absent when the line is longer than the limit. */
  readonly text?: string;
  readonly sha256: string;
  /** Without its end. */
  readonly sizeBytes: number;
  /** False for a last line that has no end. */
  readonly isEnded: boolean;
}

/**
 * Reads a file line by line; of a line that is longer than the limit only the digest is kept.
 *
 * @param start - Where to begin, in bytes; what precedes the first line end from there on is left out. Default: the whole file.
 */
export async function* fileLines(
  file: string,
  maxLineBytes: number,
  start = 0,
): AsyncGenerator<FileLine> {
  let isPart = start > 0;
  let line = new PartialLine(1, maxLineBytes);
  for await (const chunk of createReadStream(file, { start }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, from)) {
      line.add(chunk.subarray(from, end));
      if (!isPart) yield line.finish(true);
      line = new PartialLine(line.number + (isPart ? 0 : 1), maxLineBytes);
      isPart = false;
      from = end + 1;
    }
    line.add(chunk.subarray(from));
  }
  if (line.sizeBytes > 0 && !isPart) yield line.finish(false);
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

  finish(isEnded: boolean): FileLine {
    const { number, sizeBytes } = this;
    if (this.#hash !== undefined) {
      return { number, sizeBytes, isEnded, sha256: this.#hash.digest('hex') };
    }
    const bytes = Buffer.concat(this.#pieces);
    return { number, sizeBytes, isEnded, sha256: hashOf(bytes), text: bytes.toString('utf8') };
  }
}
