import { RollingFile, type NumberedFiles } from '@wins/files';
import { quoteText } from '@wins/base';
import { stat } from 'node:fs/promises';
import { encodeEvent, eventsOf, ringFiles, type UnnumberedEvent } from './ring-files.js';

/** Number of complete files in a full ring. */
const SEGMENTS = 10;
/** Minimum free space in a file, in bytes. A file with less counts as full, because the next event may not fit. */
const MUCH_BYTES = 32 * 1024;

export interface SegmentWriterOptions {
  readonly directory: string;
  readonly maxEvents: number;
  readonly maxBytes: number;
  readonly prepareDirectory: (directory: string) => void | Promise<void>;
}

interface Current {
  readonly firstSeq: number;
  readonly sizeBytes: number;
  readonly events: number;
}

/** Must be the folder's only writer. Calls must not overlap. Keeps no file open, so the next write re-creates a removed folder. */
export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  readonly #files: NumberedFiles;
  readonly #file: RollingFile;
  #current: Current | undefined;
  #lastSeq = 0;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
    this.#files = ringFiles(options.directory);
    this.#file = new RollingFile(this.#files);
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Finds the last stored event, and removes an incomplete last line. @throws any error of Node. */
  async open(): Promise<void> {
    if (this.#current !== undefined) return;
    const { directory, prepareDirectory } = this.#options;
    await prepareDirectory(directory);
    const firstSeq = (await this.#files.numbers()).at(-1);
    if (firstSeq === undefined) {
      this.#current = { firstSeq: this.#lastSeq + 1, sizeBytes: 0, events: 0 };
      return;
    }
    let sizeBytes = 0;
    let events = 0;
    let lastSeq = firstSeq - 1;
    try {
      // Removes the bytes of a failed append, because the caller writes those events again.
      await this.#file.open(firstSeq);
      for await (const stored of eventsOf(this.#files, firstSeq)) {
        for (const { seq, endBytes } of stored) {
          sizeBytes = endBytes;
          lastSeq = Math.max(lastSeq, seq);
        }
        events += stored.length;
      }
      await this.#file.open(firstSeq, sizeBytes);
    } finally {
      await this.#file.close();
    }
    this.#lastSeq = Math.max(this.#lastSeq, lastSeq);
    this.#current = { firstSeq, sizeBytes, events };
  }

  /**
   * Writes as many events as fit into the file, at least 1, and returns their number.
   * @throws any error of Node. In that case nothing counts as written, and the next call examines the folder again.
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
      let freeBytes = fileBytes - current.sizeBytes;
      for (const event of events.slice(0, fileEvents - current.events)) {
        const line = `${encodeEvent({ seq: this.#lastSeq + 1 + lines.length, ...event })}\n`;
        freeBytes -= Buffer.byteLength(line);
        if (freeBytes < 0 && lines.length > 0) break;
        lines.push(line);
      }
      await this.#write(current, Buffer.from(lines.join('')), lines.length);
      this.#lastSeq += lines.length;
      return lines.length;
    } catch (error) {
      this.#current = undefined;
      throw error;
    } finally {
      await this.#file.close();
    }
  }

  async #write(current: Current, bytes: Buffer, count: number): Promise<void> {
    const { firstSeq, sizeBytes, events } = current;
    const foundBytes = await this.#file.open(firstSeq);
    if (foundBytes !== sizeBytes) {
      const name = quoteText(this.#files.pathOf(firstSeq));
      throw new Error(`cannot write ${name}: found ${foundBytes} bytes; wanted ${sizeBytes}`);
    }
    await this.#file.append(bytes);
    this.#current = { firstSeq, sizeBytes: sizeBytes + bytes.length, events: events + count };
  }

  async #removeOld(): Promise<void> {
    const { maxEvents, maxBytes } = this.#options;
    const starts = await this.#files.numbers();
    const oldestSeq = this.#lastSeq + 1 - maxEvents;
    const old: number[] = [];
    let freeBytes = maxBytes - maxBytes / SEGMENTS;
    for (let index = starts.length - 1; index >= 0; index -= 1) {
      const start = starts[index] ?? 0;
      const next = starts[index + 1] ?? this.#lastSeq + 1;
      freeBytes -= await sizeOf(this.#files.pathOf(start));
      if (next <= oldestSeq || freeBytes < 0) old.push(start);
    }
    await this.#files.remove(old);
  }
}

const NOTHING: Current = { firstSeq: 1, sizeBytes: 0, events: 0 };

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
