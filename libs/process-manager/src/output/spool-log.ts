import type { Abortable } from 'node:events';
import type { OutputReader, OutputSource, OutputStream, TreeLog } from './output-log.js';
import { Spool } from './spool.js';
import { SpoolWriter, type SpoolWriterOptions } from './spool-writer.js';

/** Options of {@link SpoolLog}. */
export interface SpoolLogOptions extends Omit<SpoolWriterOptions, 'onCaughtUp'> {
  /** True: the programs also wait while too much of their output is unread. Default false: they wait for the disk only. */
  readonly awaitsReader?: boolean | undefined;
}

/** Log of a tree on disk. */
export class SpoolLog implements TreeLog, AsyncDisposable {
  readonly #writer: SpoolWriter;
  readonly #folder: string;
  readonly #source: OutputSource;
  #isPaused = false;
  #awaitsReader: boolean;
  #readTo = 0;

  constructor({ awaitsReader = false, ...options }: SpoolLogOptions, source: OutputSource) {
    this.#awaitsReader = awaitsReader;
    this.#folder = options.folder;
    this.#source = source;
    this.#writer = new SpoolWriter({ ...options, onCaughtUp: () => this.#steer() });
  }

  /** Total bytes of output, including lost ones and those of earlier attempts. */
  get offset(): number {
    return this.#writer.offset;
  }

  append(stream: OutputStream, bytes: Buffer): void {
    this.#writer.append(stream, bytes);
    this.#steer();
  }

  /** Reads what is on the disk. */
  read(options?: Abortable): OutputReader {
    return new Spool(this.#folder).read(options);
  }

  /** A reader has taken the output before this offset. */
  readTo(offset: number): void {
    this.#readTo = Math.max(this.#readTo, offset);
    this.#steer();
  }

  /** Removes the oldest file, unless it is the only one. */
  yieldSpace(): Promise<boolean> {
    return this.#writer.yieldSpace();
  }

  finish(): void {
    this.#awaitsReader = false;
    this.#steer();
  }

  /** Resolves when all output is written or lost. */
  close(): Promise<void> {
    return this.#writer.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #steer(): void {
    const mustWait =
      this.#writer.isBehind || (this.#awaitsReader && this.#writer.isFullFrom(this.#readTo));
    // Pause again for each chunk: Node resumes a child's pipes by itself when the child exits.
    if (mustWait) this.#source.pause();
    else if (this.#isPaused) this.#source.resume();
    this.#isPaused = mustWait;
  }
}
