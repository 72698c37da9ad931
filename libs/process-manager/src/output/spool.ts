import type { NumberedFiles } from '@wins/files';
import type { FileHandle } from 'node:fs/promises';
import {
  partsOf,
  type OutputPart,
  type OutputReader,
  type OutputReadOptions,
} from './output-log.js';
import {
  decodeFrame,
  FILE_HEADER_BYTES,
  HEADER_BYTES,
  MAX_FRAME_BYTES,
  spoolFiles,
  type SpoolFrame,
} from './spool-frame.js';
import {
  numbersOf,
  openSpoolFile,
  readInto,
  SpoolSearch,
  type Position,
  type SearchTurn,
} from './spool-search.js';

/** Size of the first read, and of each read after a rest. */
const FRAME_BYTES = HEADER_BYTES + MAX_FRAME_BYTES;
/** Size of a read for a caller that takes what it gets. */
const CHUNK_BYTES = 4 * FRAME_BYTES;

/** Facts about a living output that {@link Spool} cannot read from the files. */
export interface SpoolOptions {
  /** Returns the output's total size, or undefined while the output may grow. Default: the existing output is complete. */
  readonly end?: (() => number | undefined) | undefined;
  /** Resolves when there may be more output than at the call; rejects when the signal aborts. Absent: the output does not grow. */
  readonly more?: ((signal: AbortSignal) => Promise<unknown>) | undefined;
  /** Called when the reader has taken all output before this offset. */
  readonly taken?: ((offset: number) => void) | undefined;
  /** Called once when a reader is closed. */
  readonly closed?: (() => void) | undefined;
  /** Runs a search for a start, for example in turn with other searches. Default: at once. */
  readonly search?:
    | (<T>(signal: AbortSignal, search: (turn?: SearchTurn) => Promise<T>) => Promise<T>)
    | undefined;
}

/**
 * The files that a `SpoolWriter`, in this process or another one, writes. They may contain anything, and the oldest may disappear at any time:
 * readers report all missing parts.
 */
export class Spool {
  readonly #folder: string;
  readonly #options: SpoolOptions;

  constructor(folder: string, options: SpoolOptions = {}) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Returns the offset behind the last whole piece of output. @throws TrustedFileError for a link, or a file that cannot be read. */
  async size(): Promise<number> {
    return (await new SpoolSearch(spoolFiles(this.#folder)).end())?.offset ?? 0;
  }

  /** Reading throws TrustedFileError for a link, or a file that cannot be read. */
  read(options: OutputReadOptions = {}): SpoolReader {
    return new SpoolReader(spoolFiles(this.#folder), this.#options, options);
  }
}

/** State of the output when the reader last looked for frames from the files. */
interface Pass {
  readonly total: number | undefined;
  readonly more: Promise<unknown> | undefined;
}

/** Reads the output of a run from its spool files. Reports parts that were removed before they were read. */
export class SpoolReader implements OutputReader {
  readonly #frames: FrameCursor;
  readonly #files: NumberedFiles;
  readonly #spool: SpoolOptions;
  readonly #options: OutputReadOptions;
  readonly #closing = new AbortController();
  /** Output before this offset was returned, or is not wanted. Undefined before the start was found. */
  #at: number | undefined;
  #pass: Pass | undefined;
  #waiting: SpoolFrame | undefined;

  constructor(files: NumberedFiles, spool: SpoolOptions, options: OutputReadOptions) {
    this.#files = files;
    this.#frames = new FrameCursor(files);
    this.#spool = spool;
    this.#options = options;
    const { signal } = options;
    if (signal?.aborted === true) this.close();
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Returns the offset at which reading begins. Call it before `next`, or not at all. */
  async begin(): Promise<number> {
    await this.#find().catch((error: unknown) => this.#unlessClosed(error));
    return this.#at ?? 0;
  }

  /** Resolves with undefined at the end, and after `close`. */
  async next(): Promise<OutputPart | undefined> {
    try {
      return await this.#next();
    } catch (error) {
      this.#unlessClosed(error);
      return undefined;
    }
  }

  rest(): void {
    this.#frames.rest();
  }

  close(): void {
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#frames.rest();
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#spool.closed?.();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  [Symbol.asyncIterator](): AsyncGenerator<OutputPart, void, undefined> {
    return partsOf(this);
  }

  async #next(): Promise<OutputPart | undefined> {
    this.#closing.signal.throwIfAborted();
    if (this.#at === undefined) await this.#find();
    const { only, follow = true } = this.#options;
    const { end = () => 0, more, taken } = this.#spool;
    taken?.(this.#at ?? 0);
    for (;;) {
      const pass = (this.#pass ??= {
        total: end(),
        more: follow ? more?.(this.#closing.signal) : undefined,
      });
      // Prevents an unhandled rejection while the promise is not awaited.
      pass.more?.catch(() => undefined);
      const frame = this.#waiting ?? (await this.#frames.next());
      this.#waiting = undefined;
      this.#closing.signal.throwIfAborted();
      const at = this.#at ?? 0;
      if (frame !== undefined) {
        const frameEnd = frame.offset + frame.bytes.length;
        if (frameEnd <= at) continue;
        if (frame.offset > at) {
          this.#waiting = frame;
          return this.#missing(at, frame.offset);
        }
        this.#at = frameEnd;
        if (frame.stream !== (only ?? frame.stream)) continue;
        return { ...frame, offset: at, bytes: frame.bytes.subarray(at - frame.offset) };
      }
      this.#pass = undefined;
      if (pass.total !== undefined || pass.more === undefined) {
        this.#frames.rest();
        return at < (pass.total ?? 0) ? this.#missing(at, pass.total ?? 0) : undefined;
      }
      this.#frames.rest();
      await pass.more;
    }
  }

  #missing(from: number, to: number): OutputPart {
    this.#at = to;
    return { stream: 'skipped', offset: from, bytes: to - from };
  }

  async #find(): Promise<void> {
    const { offset = 0, lines, sinceMs, only } = this.#options;
    this.#at = offset;
    if (offset === 0 && lines === undefined && sinceMs === undefined) return;
    const { signal } = this.#closing;
    const { search = (_signal, run) => run() } = this.#spool;
    const start = await search(signal, (turn) =>
      new SpoolSearch(this.#files, signal, turn).startOf({ offset, lines, sinceMs }, only),
    );
    if (start === undefined) return;
    this.#frames.goTo(start);
    // Output before a chosen start does not count as missing.
    if (lines !== undefined || sinceMs !== undefined) this.#at = Math.max(offset, start.offset);
  }

  #unlessClosed(error: unknown): void {
    if (!this.#closing.signal.aborted) throw error;
    this.#frames.rest();
  }

  readonly #onAbort = (): void => this.close();
}

/** Reads the frames of all files in order, also while they are written. */
class FrameCursor {
  readonly #files: NumberedFiles;
  #number: number | undefined;
  /** Number of the next file; known only if the current one is complete. */
  #nextNumber: number | undefined;
  /** Position in the file behind the last returned frame. */
  #at = FILE_HEADER_BYTES;
  /** Bytes of the file from `#at` on, from `#used` on. */
  #chunk: Buffer | undefined;
  #used = 0;
  #wanted = FRAME_BYTES;
  #file: FileHandle | undefined;

  constructor(files: NumberedFiles) {
    this.#files = files;
  }

  goTo({ number, bytes }: Position): void {
    this.#number = number;
    this.#at = bytes;
  }

  /** Frees the buffer and the file. */
  rest(): void {
    this.#chunk = undefined;
    this.#wanted = FRAME_BYTES;
    const file = this.#file;
    this.#file = undefined;
    file?.close().catch(() => undefined);
  }

  /** Returns undefined where no further whole frame is: at the end, or at a frame that is being written. */
  async next(): Promise<SpoolFrame | undefined> {
    for (;;) {
      const frame = this.#decode() ?? (await this.#read());
      if (frame !== undefined) return frame;
      if (this.#nextNumber === undefined) {
        const after = this.#number ?? -1;
        this.#nextNumber = (await numbersOf(this.#files)).find((number) => number > after);
        if (this.#nextNumber === undefined) return undefined;
        // The current file is complete now. Before it was listed, its writer may have added frames.
        if (this.#number !== undefined) continue;
      }
      this.#open(this.#nextNumber);
    }
  }

  #open(number: number): void {
    this.rest();
    this.goTo({ number, bytes: FILE_HEADER_BYTES, offset: number });
    this.#nextNumber = undefined;
  }

  #decode(): SpoolFrame | undefined {
    if (this.#chunk === undefined) return undefined;
    const frame = decodeFrame(this.#chunk, this.#used);
    if (frame === undefined) return undefined;
    const sizeBytes = HEADER_BYTES + frame.bytes.length;
    this.#used += sizeBytes;
    this.#at += sizeBytes;
    return frame;
  }

  /** Reads on behind the last frame. */
  async #read(): Promise<SpoolFrame | undefined> {
    if (this.#number === undefined) return undefined;
    this.#file ??= await openSpoolFile(this.#files, this.#number);
    if (this.#file === undefined) return undefined;
    const wanted = this.#wanted;
    const chunk = await readInto(Buffer.allocUnsafe(wanted), this.#file, this.#at);
    // Larger reads cost less, but only a reader that takes what it gets should hold them.
    if (chunk.length === wanted) this.#wanted = Math.min(CHUNK_BYTES, wanted * 2);
    this.#chunk = chunk;
    this.#used = 0;
    return this.#decode();
  }
}
