import { reporter } from '@wins/base';
import { RollingFile, type NumberedFiles } from '@wins/files';
import { stat } from 'node:fs/promises';
import {
  encodeFileHeader,
  FILE_HEADER_BYTES,
  FILES_OF_SPOOL,
  FrameBatch,
  HEADER_BYTES,
  MAX_FRAME_BYTES,
  spoolFiles,
} from './spool-frame.js';
import type { OutputStream } from './output-log.js';
import { SpoolSearch } from './spool-search.js';

/** Maximum amount of output queued for the disk; above it the program should wait. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Maximum number of files. Each attempt of a run starts a file. Without this limit, many short attempts would create too many. */
const MAX_FILES = 4 * FILES_OF_SPOOL;
/** The spool counts as full with this many files of unread output, including output queued for the disk. */
const FULL_FILES = 12;
/** Time to gather output for one write, because a write costs the same regardless of its size. */
const GATHER_MS = 2;
const GATHER_BYTES = 256 * 1024;
/** Size of a write, unless less is queued. */
const BATCH_BYTES = 512 * 1024;
/** Pause after a disk error, so that a full disk costs next to nothing. */
const LEFT_ALONE_MS = 100;
/** Shared by all spools, because a new buffer for each write would burden the garbage collector. */
const spare: Buffer[] = [];
const MAX_SPARE = 4;

/** Options of {@link SpoolWriter}. */
export interface SpoolWriterOptions {
  /** Existing folder that only this process uses. */
  readonly folder: string;
  /** Number of output bytes of earlier attempts, whose spool this writer continues. Default: 0, and the spool is new. */
  readonly from?: number | undefined;
  /** Maximum size on disk, including headers; at the limit the oldest file, a sixteenth of the spool, is removed. */
  readonly maxBytes: number;
  /** Called after each write. */
  readonly onWritten?: (() => unknown) | undefined;
  /** Called when `isBehind` becomes false. */
  readonly onCaughtUp?: (() => unknown) | undefined;
}

/**
 * A writer never waits for a reader. It keeps the newest output, up to its size limit. If the disk is full, output is lost; the offsets of later
 * output show how much. Never throws.
 */
export class SpoolWriter implements AsyncDisposable {
  readonly #options: SpoolWriterOptions;
  readonly #reportWritten: () => void;
  readonly #reportCaughtUp: () => void;
  readonly #files: NumberedFiles;
  readonly #file: RollingFile;
  readonly #fileBytes: number;
  readonly #sizes = new Map<number, number>();
  readonly #batches: Batch[] = [];
  #waitingBytes = 0;
  #offset: number;
  /** Latest time of the appended output. */
  #latestMs = 0;
  /** Latest time of earlier attempts. */
  #earlierMs = 0;
  #isBegun = false;
  #pumping: Promise<void> | undefined;
  #gathered: (() => void) | undefined;
  #isClosing = false;
  #wasBehind = false;
  #askAgainAt = 0;

  constructor(options: SpoolWriterOptions) {
    this.#options = options;
    this.#reportWritten = reporter(options.onWritten);
    this.#reportCaughtUp = reporter(options.onCaughtUp);
    this.#offset = options.from ?? 0;
    this.#files = spoolFiles(options.folder);
    this.#file = new RollingFile(this.#files);
    this.#fileBytes = Math.max(
      FILE_HEADER_BYTES + MAX_FRAME_BYTES + HEADER_BYTES,
      Math.floor(options.maxBytes / FILES_OF_SPOOL),
    );
  }

  /** Total bytes of output, including lost ones. */
  get offset(): number {
    return this.#offset;
  }

  get isBehind(): boolean {
    return this.#waitingBytes > MAX_WAITING_BYTES;
  }

  /** True if the output after `offset` takes up so much of the spool that new output could displace it. */
  isFullFrom(offset: number): boolean {
    const { maxBytes } = this.#options;
    let sizeBytes = this.#waitingBytes;
    const numbers = [...this.#sizes.keys()];
    for (const [index, number] of numbers.entries())
      if ((numbers[index + 1] ?? Infinity) > offset) sizeBytes += this.#sizes.get(number) ?? 0;
    return sizeBytes > (maxBytes * FULL_FILES) / FILES_OF_SPOOL;
  }

  /** Copies the output. */
  append(stream: OutputStream, output: Buffer, timeMs = Date.now()): void {
    for (let from = 0; from < output.length;) {
      const { frames } = this.#batches.at(-1) ?? this.#begin();
      const before = frames.sizeBytes;
      const bytes = output.subarray(from);
      const taken = frames.add({ stream, offset: this.#offset, timeMs, bytes });
      this.#waitingBytes += frames.sizeBytes - before;
      this.#offset += taken;
      this.#latestMs = Math.max(this.#latestMs, timeMs);
      from += taken;
      if (from < output.length) this.#begin();
    }
    this.#wasBehind ||= this.isBehind;
    if (this.#waitingBytes >= GATHER_BYTES) this.#gathered?.();
    this.#pumping ??= this.#pump();
  }

  /** Removes the oldest file, unless it is the only one, to free space for more important data. */
  async yieldSpace(): Promise<boolean> {
    const [oldest] = this.#sizes.keys();
    if (oldest === undefined || this.#sizes.size < 2) return false;
    this.#sizes.delete(oldest);
    await this.#files.remove([oldest]);
    return true;
  }

  /** Resolves when all appended output is written or lost. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#gathered?.();
    await this.#pumping;
    await this.#file.close().catch(() => undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #begin(): Batch {
    const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(BATCH_BYTES);
    const frames = new FrameBatch(buffer.subarray(0, this.#fileBytes - FILE_HEADER_BYTES));
    const batch = { frames, buffer, latestBefore: this.#latestMs };
    this.#batches.push(batch);
    return batch;
  }

  async #pump(): Promise<void> {
    while (this.#batches.length > 0) {
      if (this.#waitingBytes < GATHER_BYTES && !this.#isClosing) await this.#gather();
      const batch = this.#batches.shift();
      if (batch === undefined) break;
      this.#waitingBytes -= batch.frames.sizeBytes;
      await this.#write(batch);
      if (spare.length < MAX_SPARE) spare.push(batch.buffer);
      this.#reportWritten();
      if (this.#wasBehind && !this.isBehind) {
        this.#wasBehind = false;
        this.#reportCaughtUp();
      }
    }
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

  async #write(batch: Batch): Promise<void> {
    if (performance.now() < this.#askAgainAt) return;
    const bytes = batch.frames.encoded();
    try {
      await this.#append(bytes, batch);
    } catch {
      const isWritten =
        (await this.yieldSpace()) &&
        (await this.#append(bytes, batch).then(
          () => true,
          () => false,
        ));
      if (!isWritten) this.#askAgainAt = performance.now() + LEFT_ALONE_MS;
    }
  }

  async #append(bytes: Buffer, { frames, latestBefore }: Batch): Promise<void> {
    const { maxBytes } = this.#options;
    const start = frames.offset;
    if (!this.#isBegun && this.#options.from !== undefined) await this.#lookAtEarlier();
    const number = this.#isBegun ? this.#file.number : start;
    let total = FILE_HEADER_BYTES + bytes.length;
    for (const sizeBytes of this.#sizes.values()) total += sizeBytes;
    for (const [oldest, sizeBytes] of this.#sizes) {
      const isBounded = total <= maxBytes && this.#sizes.size < MAX_FILES;
      if (isBounded || oldest === number) break;
      total -= sizeBytes;
      await this.yieldSpace();
    }
    const isFull = (this.#sizes.get(number) ?? 0) + bytes.length > this.#fileBytes;
    const next = isFull && this.#sizes.has(number) ? start : number;
    // If this writer's first file already exists, empty it. An earlier attempt may have left an incomplete frame there.
    const keptBytes = this.#isBegun ? Infinity : 0;
    if (!this.#sizes.has(next) || !this.#file.isIntact()) await this.#file.open(next, keptBytes);
    this.#isBegun = true;
    this.#sizes.set(next, this.#file.sizeBytes);
    if (this.#file.sizeBytes === 0)
      await this.#file.append(encodeFileHeader(Math.max(latestBefore, this.#earlierMs)));
    await this.#file.append(bytes);
    this.#sizes.set(next, this.#file.sizeBytes);
  }

  async #lookAtEarlier(): Promise<void> {
    for (const number of await this.#files.numbers())
      this.#sizes.set(number, (await stat(this.#files.pathOf(number))).size);
    this.#earlierMs = await new SpoolSearch(this.#files).latestMs();
  }
}

/** Frames that wait for the disk; together they fit into one file. */
interface Batch {
  readonly frames: FrameBatch;
  readonly buffer: Buffer;
  /** Latest time of the output before this batch. */
  readonly latestBefore: number;
}
