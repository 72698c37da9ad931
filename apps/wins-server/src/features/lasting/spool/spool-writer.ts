import { RollingFile, type NumberedFiles } from '@wins/files';
import { stat } from 'node:fs/promises';
import { encodeFrames, HEADER_BYTES, MAX_FRAME_BYTES, type SpoolFrame } from './spool-frame.js';
import { FILES_OF_SPOOL, spoolFiles } from './spool-files.js';

/** Output that waits for the disk; with more, the program should wait. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Each attempt at a run begins a file, so that many short ones are bounded by their number. */
const MAX_FILES = 4 * FILES_OF_SPOOL;
/** Files of output that is to be kept; what waits for the disk comes on top. */
const FULL_FILES = 12;
/** Output is gathered so long, or up to so much, because each write costs the same whatever it writes. */
const GATHER_MS = 2;
const GATHER_BYTES = 512 * 1024;
/** How long a disk that has just failed is not asked again, so that a full one costs next to nothing. */
const LEFT_ALONE_MS = 100;
const NOTHING: Buffer = Buffer.alloc(0);

/** How a spool is written. */
export interface SpoolWriterOptions {
  /** Exists, and belongs to this process alone. */
  readonly folder: string;
  /** Bytes of the spool that is in it, which this one goes on. Default 0: there is none. */
  readonly from?: number;
  /** The most that lies on the disk, headers included. Then the oldest file goes, a sixteenth of it. */
  readonly maxBytes: number;
  /** Called when more can be read than before. */
  readonly onWritten?: () => void;
  /** Called when `isBehind` has become false. */
  readonly onCaughtUp?: () => void;
}

/**
 * Writes the output of one run to numbered files. It is lossless within its bound and never waits for a reader. What a disk that is full
 * does not take is lost, and the offsets of what follows tell how much; nothing ever throws.
 */
export class SpoolWriter {
  readonly #options: SpoolWriterOptions;
  readonly #files: NumberedFiles;
  readonly #file: RollingFile;
  readonly #fileBytes: number;
  readonly #sizes = new Map<number, number>();
  #waiting: SpoolFrame[] = [];
  #waitingBytes = 0;
  #offset: number;
  #isBegun = false;
  #pumping: Promise<void> | undefined;
  /** Memory of the bytes written last, which the next ones use again: new memory costs more than a copy. */
  #space = NOTHING;
  /** Ends the gathering, while there is one. */
  #gathered: (() => void) | undefined;
  #isClosing = false;
  #wasBehind = false;
  #askAgainAt = 0;

  constructor(options: SpoolWriterOptions) {
    this.#options = options;
    this.#offset = options.from ?? 0;
    this.#files = spoolFiles(options.folder);
    this.#file = new RollingFile(this.#files);
    this.#fileBytes = Math.max(
      MAX_FRAME_BYTES + HEADER_BYTES,
      Math.floor(options.maxBytes / FILES_OF_SPOOL),
    );
  }

  /** Bytes of output in all, lost ones too. */
  get offset(): number {
    return this.#offset;
  }

  /** Whether so much waits for the disk that the program should wait, too. */
  get isBehind(): boolean {
    return this.#waitingBytes > MAX_WAITING_BYTES;
  }

  /** Whether the output from an offset on takes so much of the bound that more could make some of it go. */
  isFullFrom(offset: number): boolean {
    const { maxBytes } = this.#options;
    let sizeBytes = this.#waitingBytes + HEADER_BYTES * this.#waiting.length;
    const numbers = [...this.#sizes.keys()];
    for (const [index, number] of numbers.entries())
      if ((numbers[index + 1] ?? Infinity) > offset) sizeBytes += this.#sizes.get(number) ?? 0;
    return sizeBytes > (maxBytes * FULL_FILES) / FILES_OF_SPOOL;
  }

  append(stream: SpoolFrame['stream'], output: Buffer, timeMs = Date.now()): void {
    for (let from = 0; from < output.length; from += MAX_FRAME_BYTES) {
      const bytes = output.subarray(from, from + MAX_FRAME_BYTES);
      this.#waiting.push({ stream, offset: this.#offset, timeMs, bytes });
      this.#offset += bytes.length;
      this.#waitingBytes += bytes.length;
    }
    this.#wasBehind ||= this.isBehind;
    if (this.#waitingBytes >= GATHER_BYTES) this.#gathered?.();
    this.#pumping ??= this.#pump();
  }

  /** Removes the oldest file, unless it is the last one: for what matters more than old output. */
  async yieldSpace(): Promise<boolean> {
    const [oldest] = this.#sizes.keys();
    if (oldest === undefined || this.#sizes.size < 2) return false;
    this.#sizes.delete(oldest);
    await this.#files.remove([oldest]);
    return true;
  }

  /** Resolves when all that was appended is written or lost. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#gathered?.();
    await this.#pumping;
    await this.#file.close().catch(() => undefined);
  }

  async #pump(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (this.#waitingBytes < GATHER_BYTES && !this.#isClosing) await this.#gather();
      const pieces = this.#takeBatch();
      await this.#write(pieces);
      this.#options.onWritten?.();
      if (this.#wasBehind && !this.isBehind) {
        this.#wasBehind = false;
        this.#options.onCaughtUp?.();
      }
    }
    this.#space = NOTHING;
    this.#pumping = undefined;
  }

  #gather(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#gathered?.(), GATHER_MS);
      this.#gathered = () => {
        this.#gathered = undefined;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Takes as many frames as one file may grow by. */
  #takeBatch(): readonly SpoolFrame[] {
    let sizeBytes = 0;
    const tooMany = this.#waiting.findIndex(({ bytes }) => {
      sizeBytes += HEADER_BYTES + bytes.length;
      return sizeBytes > this.#fileBytes;
    });
    const frames = this.#waiting.splice(0, tooMany === -1 ? this.#waiting.length : tooMany);
    for (const { bytes } of frames) this.#waitingBytes -= bytes.length;
    return frames;
  }

  async #write(pieces: readonly SpoolFrame[]): Promise<void> {
    if (performance.now() < this.#askAgainAt) return;
    const bytes = encodeFrames(pieces, this.#space);
    if (bytes.length > this.#space.length) this.#space = bytes;
    const start = pieces[0]?.offset ?? 0;
    try {
      await this.#append(bytes, start);
    } catch {
      const isWritten =
        (await this.yieldSpace()) &&
        (await this.#append(bytes, start).then(
          () => true,
          () => false,
        ));
      if (!isWritten) this.#askAgainAt = performance.now() + LEFT_ALONE_MS;
    }
  }

  async #append(bytes: Buffer, start: number): Promise<void> {
    const { maxBytes } = this.#options;
    if (!this.#isBegun && this.#options.from !== undefined) await this.#lookAtEarlier();
    const number = this.#isBegun ? this.#file.number : start;
    let total = bytes.length;
    for (const sizeBytes of this.#sizes.values()) total += sizeBytes;
    for (const [oldest, sizeBytes] of this.#sizes) {
      const isBounded = total <= maxBytes && this.#sizes.size < MAX_FILES;
      if (isBounded || oldest === number) break;
      total -= sizeBytes;
      await this.yieldSpace();
    }
    const isFull = (this.#sizes.get(number) ?? 0) + bytes.length > this.#fileBytes;
    const next = isFull && this.#sizes.has(number) ? start : number;
    // What is in a file that is new here is a frame that an earlier attempt did not end.
    const keptBytes = this.#isBegun ? Infinity : 0;
    if (!this.#sizes.has(next) || !this.#file.isIntact()) await this.#file.open(next, keptBytes);
    this.#isBegun = true;
    this.#sizes.set(next, this.#file.sizeBytes);
    await this.#file.append(bytes);
    this.#sizes.set(next, this.#file.sizeBytes);
  }

  async #lookAtEarlier(): Promise<void> {
    for (const number of await this.#files.numbers())
      this.#sizes.set(number, (await stat(this.#files.pathOf(number))).size);
  }
}
