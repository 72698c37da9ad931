import type { NumberedFiles } from '@wins/files';
import { errnoOf } from '@wins/base';
import { openRegularFile, TrustedFileError } from '@wins/trusted-files';
import type { FileHandle } from 'node:fs/promises';
import {
  behindLineEnd,
  countLineEnds,
  endsLine,
  TAIL_BYTES,
  type OutputStart,
  type OutputStream,
} from './output-log.js';
import {
  decodeFrame,
  FILE_HEADER_BYTES,
  HEADER_BYTES,
  latestBefore,
  MAX_FRAME_BYTES,
  type SpoolFrame,
} from './spool-frame.js';

/** Runs a short piece of work, when its client may have the thread. */
export type SearchTurn = (work: () => void) => Promise<void>;

export interface Position {
  /** Number of the file. */
  readonly number: number;
  /** Position in the file. */
  readonly bytes: number;
  /** Number of output bytes before this position. */
  readonly offset: number;
}

interface Visited extends SpoolFrame {
  /** Position of the frame in its file. */
  readonly at: number;
}

/** Finds where reading begins. Work and memory do not grow with the spool beyond a sixteenth of it, and {@link TAIL_BYTES} for lines. */
export class SpoolSearch {
  readonly #files: NumberedFiles;
  readonly #turn: SearchTurn;
  readonly #signal: AbortSignal | undefined;

  /** @param turn - Default: at once. */
  constructor(files: NumberedFiles, signal?: AbortSignal, turn: SearchTurn = atOnce) {
    this.#files = files;
    this.#turn = turn;
    this.#signal = signal;
  }

  /** Returns the latest of the wanted starts. */
  async startOf(
    { offset = 0, lines, sinceMs }: OutputStart,
    only: OutputStream | undefined,
  ): Promise<Position | undefined> {
    const starts = [await this.#ofOffset(offset)];
    if (lines !== undefined) starts.push(await this.#ofLines(lines, only));
    if (sinceMs !== undefined) starts.push(await this.#ofTime(sinceMs));
    return starts.reduce((latest, each) =>
      each === undefined || (latest !== undefined && latest.offset > each.offset) ? latest : each,
    );
  }

  /** Returns the position behind the last whole frame; undefined for an empty spool. */
  async end(): Promise<Position | undefined> {
    for (const number of (await numbersOf(this.#files)).toReversed()) {
      let end: Position | undefined;
      await this.#visit(number, (frame) => {
        end = endOf(number, frame);
        return false;
      });
      if (end !== undefined) return end;
    }
    return undefined;
  }

  /** Returns the latest time of all output; 0 for an empty spool. */
  async latestMs(): Promise<number> {
    const number = (await numbersOf(this.#files)).at(-1);
    if (number === undefined) return 0;
    let latestMs = latestBefore((await this.#header(number)) ?? Buffer.alloc(0));
    await this.#visit(number, ({ timeMs }) => {
      latestMs = Math.max(latestMs, timeMs);
      return false;
    });
    return latestMs;
  }

  async #ofOffset(offset: number): Promise<Position | undefined> {
    const numbers = await numbersOf(this.#files);
    const number = numbers.findLast((each) => each <= offset) ?? numbers[0];
    if (number === undefined) return undefined;
    if (offset <= number) return { number, bytes: FILE_HEADER_BYTES, offset: number };
    return this.#firstIn(number, (frame) => frame.offset + frame.bytes.length > offset);
  }

  async #ofTime(sinceMs: number): Promise<Position | undefined> {
    const numbers = await numbersOf(this.#files);
    let [first, beyond] = [0, numbers.length];
    // The first frame that counts is in the last file whose predecessors are all too early.
    while (beyond - first > 1) {
      const middle = (first + beyond) >> 1;
      const header = await this.#header(numbers[middle] ?? 0);
      if (header !== undefined && latestBefore(header) < sinceMs) first = middle;
      else beyond = middle;
    }
    const number = numbers[first];
    if (number === undefined) return undefined;
    return this.#firstIn(number, ({ timeMs }) => timeMs >= sinceMs);
  }

  /** Returns the position of the first wanted frame of a file, or behind its last frame. */
  async #firstIn(number: number, isWanted: (frame: Visited) => boolean): Promise<Position> {
    let found: Position = { number, bytes: FILE_HEADER_BYTES, offset: number };
    await this.#visit(number, (frame) => {
      const isFound = isWanted(frame);
      found = isFound ? { number, bytes: frame.at, offset: frame.offset } : endOf(number, frame);
      return isFound;
    });
    return found;
  }

  async #ofLines(lines: number, only: OutputStream | undefined): Promise<Position | undefined> {
    if (lines === 0) return this.end();
    let wanted: number | undefined;
    let end: Position | undefined;
    let oldest: Position | undefined;
    for (const number of (await numbersOf(this.#files)).toReversed()) {
      if (end !== undefined && (oldest?.offset ?? Infinity) <= end.offset - TAIL_BYTES) break;
      let lineEnds = 0;
      let last: Visited | undefined;
      let isLineEnded: boolean | undefined;
      await this.#visit(number, (frame) => {
        last = frame;
        if (frame.stream !== (only ?? frame.stream)) return false;
        lineEnds += countLineEnds(frame.bytes);
        isLineEnded = endsLine(frame.bytes);
        return false;
      });
      if (last === undefined) continue;
      end ??= endOf(number, last);
      oldest = { number, bytes: FILE_HEADER_BYTES, offset: number };
      if (isLineEnded === undefined) continue;
      // A final line end does not start another line.
      wanted ??= lines + (isLineEnded ? 1 : 0);
      if (lineEnds >= wanted) return this.#behind(number, lineEnds - wanted + 1, only);
      wanted -= lineEnds;
    }
    return oldest;
  }

  /** Returns the position behind the line end with this number in a file. */
  async #behind(number: number, lineEnd: number, only: OutputStream | undefined) {
    let left = lineEnd;
    let found: Position | undefined;
    await this.#visit(number, ({ at, offset, stream, bytes }) => {
      if (stream !== (only ?? stream)) return false;
      const count = countLineEnds(bytes);
      left -= count;
      if (left > 0) return false;
      found = { number, bytes: at, offset: offset + (behindLineEnd(bytes, left + count) ?? 0) };
      return true;
    });
    return found;
  }

  /** Visits the whole frames of a file, a chunk in each turn, until `visit` returns true. */
  async #visit(number: number, visit: (frame: Visited) => boolean): Promise<void> {
    const file = await openSpoolFile(this.#files, number);
    if (file === undefined) return;
    const buffer = Buffer.allocUnsafe(HEADER_BYTES + MAX_FRAME_BYTES);
    try {
      for (let at = FILE_HEADER_BYTES; ;) {
        this.#signal?.throwIfAborted();
        const chunk = await readInto(buffer, file, at);
        const seen = { bytes: 0, isOver: false };
        await this.#turn(() => {
          while (!seen.isOver) {
            const frame = decodeFrame(chunk, seen.bytes);
            if (frame === undefined) return;
            seen.isOver = visit({ ...frame, at: at + seen.bytes });
            seen.bytes += HEADER_BYTES + frame.bytes.length;
          }
        });
        if (seen.isOver || seen.bytes === 0) return;
        at += seen.bytes;
      }
    } finally {
      await file.close();
    }
  }

  async #header(number: number): Promise<Buffer | undefined> {
    this.#signal?.throwIfAborted();
    const file = await openSpoolFile(this.#files, number);
    if (file === undefined) return undefined;
    try {
      return await readInto(Buffer.alloc(FILE_HEADER_BYTES), file, 0);
    } finally {
      await file.close();
    }
  }
}

export async function numbersOf(files: NumberedFiles): Promise<readonly number[]> {
  try {
    return await files.numbers();
  } catch (error) {
    // The folder was removed during the read.
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Returns undefined for a file that is gone. @throws TrustedFileError for a link, or a file that cannot be read. */
export async function openSpoolFile(
  files: NumberedFiles,
  number: number,
): Promise<FileHandle | undefined> {
  try {
    return (await openRegularFile(files.pathOf(number))).handle;
  } catch (error) {
    if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
    throw error;
  }
}

/** Reads from a position of a file until the buffer is full or the file ends. Returns the read part of the buffer. */
export async function readInto(buffer: Buffer, file: FileHandle, at: number): Promise<Buffer> {
  const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
  return buffer.subarray(0, bytesRead);
}

function endOf(number: number, { at, offset, bytes }: Visited): Position {
  return { number, bytes: at + HEADER_BYTES + bytes.length, offset: offset + bytes.length };
}

function atOnce(work: () => void): Promise<void> {
  work();
  return Promise.resolve();
}
