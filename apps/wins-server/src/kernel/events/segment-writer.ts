import { quoteText } from '@wins/wins-program';
import { constants } from 'node:fs';
import { open, stat, unlink } from 'node:fs/promises';
import { encodeEvent, type UnnumberedEvent } from './ring-event.js';
import { readSegment, segmentPath, segmentStarts } from './segment-files.js';

/** A ring has so many files when it is full, and one that is written to. */
const SEGMENTS = 10;
/** A file with less room than the longest event may need is full. */
const MUCH_BYTES = 32 * 1024;

/** Where a ring is, and how large it may become. */
export interface SegmentWriterOptions {
  readonly directory: string;
  readonly maxEvents: number;
  readonly maxBytes: number;
  readonly prepareDirectory: (directory: string) => void | Promise<void>;
}

/** The file that is written to. */
interface Current {
  readonly firstSeq: number;
  readonly sizeBytes: number;
  readonly events: number;
}

/**
 * Writes events behind those that are there, and removes the oldest files. It is the only one that writes to the folder, and does one
 * thing at a time. No file stays open: a folder that is removed or replaced is made again by the next write.
 */
export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  #current: Current | undefined;
  #lastSeq = 0;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /** The number of the last event that was written. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /**
   * Finds where an earlier ring ended, and cuts off what a crash left of a line. What was found once is kept.
   *
   * @throws what Node throws.
   */
  async open(): Promise<void> {
    if (this.#current !== undefined) return;
    const { directory, prepareDirectory } = this.#options;
    await prepareDirectory(directory);
    const firstSeq = (await segmentStarts(directory)).at(-1);
    const segment = firstSeq === undefined ? undefined : await readSegment(directory, firstSeq);
    if (firstSeq === undefined || segment === undefined) {
      this.#current = { firstSeq: this.#lastSeq + 1, sizeBytes: 0, events: 0 };
      return;
    }
    const { events, wholeBytes, sizeBytes } = segment;
    if (sizeBytes > wholeBytes) {
      await using file = await open(segmentPath(directory, firstSeq), writing());
      await file.truncate(wholeBytes);
    }
    const last = events.reduce((most, { seq }) => Math.max(most, seq), firstSeq - 1);
    this.#lastSeq = Math.max(this.#lastSeq, last);
    this.#current = { firstSeq, sizeBytes: wholeBytes, events: events.length };
  }

  /**
   * Writes the first of these events, those that the file has room for; their numbers follow `lastSeq`.
   *
   * @returns How many, 1 at least.
   * @throws what Node throws. Nothing counts as written then, and the next call looks at the folder again.
   */
  async append(events: readonly UnnumberedEvent[]): Promise<number> {
    try {
      await this.open();
      const { maxEvents, maxBytes } = this.#options;
      const fileEvents = Math.ceil(maxEvents / SEGMENTS);
      const fileBytes = maxBytes / SEGMENTS;
      let current = this.#current ?? NOTHING;
      if (current.events >= fileEvents || current.sizeBytes + MUCH_BYTES > fileBytes) {
        current = { firstSeq: this.#lastSeq + 1, sizeBytes: 0, events: 0 };
        await this.#removeOld();
      }
      const lines: string[] = [];
      let roomBytes = fileBytes - current.sizeBytes;
      for (const event of events.slice(0, fileEvents - current.events)) {
        const line = encodeEvent({ seq: this.#lastSeq + 1 + lines.length, ...event });
        roomBytes -= Buffer.byteLength(line);
        if (roomBytes < 0 && lines.length > 0) break;
        lines.push(line);
      }
      await this.#write(current, Buffer.from(lines.join('')), lines.length);
      this.#lastSeq += lines.length;
      return lines.length;
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  async #write(current: Current, bytes: Buffer, count: number): Promise<void> {
    const { firstSeq, sizeBytes, events } = current;
    const flags = writing() | constants.O_CREAT;
    const name = segmentPath(this.#options.directory, firstSeq);
    await using file = await open(name, flags, 0o600);
    const { size } = await file.stat();
    if (size !== sizeBytes)
      throw new Error(`cannot write ${quoteText(name)}: found ${size} bytes; wanted ${sizeBytes}`);
    try {
      for (let from = 0; from < bytes.length;) {
        const at = sizeBytes + from;
        const { bytesWritten } = await file.write(bytes, from, bytes.length - from, at);
        from += bytesWritten;
      }
    } catch (error) {
      // Else a part of the line would stand before the next one.
      await file.truncate(sizeBytes).catch(() => undefined);
      throw error;
    }
    this.#current = { firstSeq, sizeBytes: sizeBytes + bytes.length, events: events + count };
  }

  /** Before a new file is begun: what is neither among the last events nor within the bytes goes. */
  async #removeOld(): Promise<void> {
    const { directory, maxEvents, maxBytes } = this.#options;
    const starts = await segmentStarts(directory);
    const oldestSeq = this.#lastSeq + 1 - maxEvents;
    let room = maxBytes - maxBytes / SEGMENTS;
    for (let index = starts.length - 1; index >= 0; index -= 1) {
      const file = segmentPath(directory, starts[index] ?? 0);
      const next = starts[index + 1] ?? this.#lastSeq + 1;
      room -= await sizeOf(file);
      if (next > oldestSeq && room >= 0) continue;
      // One that someone holds open stays until the next time.
      await unlink(file).catch(() => undefined);
    }
  }
}

const NOTHING: Current = { firstSeq: 1, sizeBytes: 0, events: 0 };

function writing(): number {
  return constants.O_WRONLY | (process.platform === 'win32' ? 0 : constants.O_NOFOLLOW);
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
