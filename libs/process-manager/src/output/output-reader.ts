import type { OutputBlock, OutputStream } from './output-block.js';

/**
 * One piece of output: at most 64 KiB of one stream, or how many bytes were dropped before this
 * reader attached. The bytes are shared with other readers: do not change them.
 */
export type OutputChunk =
  | { readonly stream: OutputStream; readonly bytes: Buffer }
  | { readonly stream: 'skipped'; readonly bytes: number };

/** How a reader is attached; see `ManagedProcess.read`. */
export interface OutputReaderOptions {
  /** Called when there is something again after `next()` gave undefined, and at the end. Must not throw. */
  readonly onReadable?: () => void;
  /** Closes the reader. */
  readonly signal?: AbortSignal;
}

/**
 * Reads the output of one run from the oldest byte that is kept. While it is attached nothing is
 * dropped; a reader that lags makes its own child wait. Whoever attached it must `close()` it, or
 * iterate it to the end or a `break`.
 */
export interface OutputReader extends AsyncIterable<OutputChunk> {
  /** The next chunk, or undefined when there is none now; allocates no promise. */
  next(): OutputChunk | undefined;
  /** True once everything was read and nothing more can come, or the reader is closed. */
  readonly ended: boolean;
  /** Resolves when `next()` has something to give, or at the end. */
  readable(): Promise<void>;
  /** Detaches; idempotent. */
  close(): void;
}

/** What a reader needs of the log that it reads. */
export interface ReadableLog {
  readonly closed: boolean;
  block(sequence: number): OutputBlock | undefined;
  onReaderMoved(): void;
  detach(reader: LogReader): void;
}

/** The cursor of one reader in the shared log. */
export class LogReader implements OutputReader {
  /** The block under the cursor; the log keeps it and all that follow. */
  sequence: number;
  #offset = 0;
  #skipped: number;
  #closed = false;
  #waiting = false;
  #resolveReadable: (() => void)[] = [];
  readonly #log: ReadableLog;
  readonly #options: OutputReaderOptions;

  constructor(log: ReadableLog, sequence: number, skipped: number, options: OutputReaderOptions) {
    this.#log = log;
    this.sequence = sequence;
    this.#skipped = skipped;
    this.#options = options;
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** True when every byte of the log was taken. */
  get caughtUp(): boolean {
    const block = this.#log.block(this.sequence);
    if (block === undefined) return true;
    return this.#offset >= block.length && this.#log.block(this.sequence + 1) === undefined;
  }

  get ended(): boolean {
    return this.#closed || (this.#log.closed && this.#skipped === 0 && this.caughtUp);
  }

  next(): OutputChunk | undefined {
    if (this.#closed) return undefined;
    if (this.#skipped > 0) {
      const bytes = this.#skipped;
      this.#skipped = 0;
      return { stream: 'skipped', bytes };
    }
    let block = this.#log.block(this.sequence);
    if (block !== undefined && this.#offset >= block.length) {
      const following = this.#log.block(this.sequence + 1);
      if (following !== undefined) {
        this.sequence += 1;
        this.#offset = 0;
        block = following;
      }
    }
    if (block === undefined || this.#offset >= block.length) {
      this.#waiting = true;
      return undefined;
    }
    const bytes = block.bytesFrom(this.#offset);
    this.#offset = block.length;
    this.#log.onReaderMoved();
    return { stream: block.stream, bytes };
  }

  readable(): Promise<void> {
    if (this.ended || this.#skipped > 0 || !this.caughtUp) return Promise.resolve();
    this.#waiting = true;
    return new Promise((resolve) => this.#resolveReadable.push(resolve));
  }

  /** The log grew or ended; wakes readers that found nothing. */
  wake(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    const resolves = this.#resolveReadable;
    this.#resolveReadable = [];
    for (const resolve of resolves) resolve();
    this.#options.onReadable?.();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#log.detach(this);
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    try {
      for (;;) {
        const chunk = this.next();
        if (chunk !== undefined) yield chunk;
        else if (this.ended) return;
        else await this.readable();
      }
    } finally {
      this.close();
    }
  }

  readonly #onAbort = (): void => this.close();
}
