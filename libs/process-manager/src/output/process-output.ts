import { MAX_BLOCK_BYTES, OutputBlock, type OutputStream } from './output-block.js';

/** Output of a run so far. */
export interface OutputFigures {
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** How often the run had to wait for a reader of its output. */
  readonly pauses: number;
}

export interface OutputSource {
  pause(): void;
  resume(): void;
}

/**
 * Bounded output log of one run, shared by all its readers. While a reader is attached, the source pauses when the
 * slowest reader is `maxBufferedBytes` behind, so nothing is lost. Without readers, the log keeps only the newest
 * `maxBufferedBytes`, and the child never waits.
 *
 * Before the first reader or `stopHolding()`, the log acts as if an idle reader were attached, because clients attach
 * shortly after the start.
 */
export class ProcessOutput {
  readonly #source: OutputSource;
  readonly #maxBufferedBytes: number;
  readonly #readers = new Set<LogReader>();
  readonly #blocks: OutputBlock[] = [];
  #firstSequence = 0;
  #endsAt = 0;
  #droppedBytes = 0;
  readonly #writtenBytes = { stdout: 0, stderr: 0 };
  #pauses = 0;
  #pauseAt: number;
  #paused = false;
  #closed = false;
  #holding = true;

  constructor(maxBufferedBytes: number, source: OutputSource) {
    this.#maxBufferedBytes = maxBufferedBytes;
    this.#pauseAt = maxBufferedBytes;
    this.#source = source;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Total `cost` of the blocks in the log. */
  get bufferedBytes(): number {
    return this.#endsAt - (this.#blocks[0]?.startsAt ?? this.#endsAt);
  }

  get figures(): OutputFigures {
    const { stdout, stderr } = this.#writtenBytes;
    return { stdoutBytes: stdout, stderrBytes: stderr, pauses: this.#pauses };
  }

  /** The log takes ownership of the buffer. */
  append(stream: OutputStream, bytes: Buffer): void {
    if (this.#closed || bytes.length === 0) return;
    this.#writtenBytes[stream] += bytes.length;
    for (let at = 0; at < bytes.length; at += MAX_BLOCK_BYTES) {
      this.#add(stream, bytes.subarray(at, at + MAX_BLOCK_BYTES));
    }
    this.#dropOldest();
    this.#steer();
    for (const reader of this.#readers) reader.wake();
  }

  createReader(options: OutputReaderOptions = {}): OutputReader {
    const reader = new LogReader(this, this.#firstSequence, this.#droppedBytes, options);
    this.#readers.add(reader);
    this.#holding = false;
    if (options.signal?.aborted === true) reader.close();
    this.#steer();
    return reader;
  }

  stopHolding(): void {
    this.#holding = false;
    this.#dropOldest();
    this.#steer();
  }

  /**
   * Call when the run's processes have exited. Lets the source read the kernel's buffers to the end without waiting for
   * readers. `allowanceBytes` limits the read, because an unrelated process may still write to the pipe.
   */
  finish(allowanceBytes: number): void {
    this.#pauseAt = this.#maxBufferedBytes + allowanceBytes;
    this.#steer();
  }

  /** Readers end once they have read the remaining blocks. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const reader of this.#readers) reader.wake();
  }

  block(sequence: number): OutputBlock | undefined {
    return this.#blocks[sequence - this.#firstSequence];
  }

  onReaderMoved(): void {
    if (this.#paused) this.#steer();
  }

  detach(reader: LogReader): void {
    this.#readers.delete(reader);
    this.#steer();
  }

  #add(stream: OutputStream, piece: Buffer): void {
    const tail = this.#blocks.at(-1);
    if (tail?.gather(stream, piece) !== true) {
      this.#blocks.push(new OutputBlock(stream, piece, this.#endsAt));
    }
    const last = this.#blocks.at(-1);
    if (last !== undefined) this.#endsAt = last.startsAt + last.cost;
  }

  #dropOldest(): void {
    if (this.#holding) return;
    for (let head = this.#blocks[0]; head !== undefined; head = this.#blocks[0]) {
      if (this.bufferedBytes - head.cost < this.#maxBufferedBytes) return;
      for (const reader of this.#readers) if (reader.sequence === this.#firstSequence) return;
      this.#blocks.shift();
      this.#firstSequence += 1;
      this.#droppedBytes += head.length;
    }
  }

  #steer(): void {
    const behind = this.#behind();
    if (behind >= this.#pauseAt) {
      if (!this.#paused) this.#pauses += 1;
      this.#paused = true;
      // Pause again for each chunk: Node resumes a child's pipes by itself when the child exits.
      this.#source.pause();
    } else if (this.#paused && behind <= this.#pauseAt / 2) {
      this.#paused = false;
      this.#source.resume();
    }
  }

  #behind(): number {
    if (this.bufferedBytes < this.#pauseAt / 2) return 0;
    if (this.#holding) return this.bufferedBytes;
    let behind = 0;
    for (const reader of this.#readers) {
      if (reader.caughtUp) continue;
      const from = this.block(reader.sequence)?.startsAt ?? this.#endsAt;
      behind = Math.max(behind, this.#endsAt - from);
    }
    return behind;
  }
}

/**
 * One chunk of output: at most 64 KiB of one stream, or the number of bytes dropped before the reader attached.
 * Readers share the bytes: do not modify them.
 */
export type OutputChunk =
  | { readonly stream: OutputStream; readonly bytes: Buffer }
  | { readonly stream: 'skipped'; readonly bytes: number };

export interface OutputReaderOptions {
  /** Called when a chunk is available after `next()` returned undefined, and at the end. Must not throw. */
  readonly onReadable?: () => void;
  /** Closes the reader. */
  readonly signal?: AbortSignal;
}

/**
 * Reads the output of one run from the oldest byte in the log. A slow reader pauses the child. The caller must
 * `close()` the reader, or iterate until the end or a `break`.
 */
export interface OutputReader extends AsyncIterable<OutputChunk> {
  /** Returns undefined when no chunk is available. */
  next(): OutputChunk | undefined;
  /** True once everything was read, or the reader is closed. */
  readonly ended: boolean;
  /** Resolves when `next()` has a chunk, or at the end. */
  readable(): Promise<void>;
  /** Detaches; idempotent. */
  close(): void;
}

export class LogReader implements OutputReader {
  /** Number of the block under the cursor; the log keeps this block and all later ones. */
  sequence: number;
  #offset = 0;
  #skipped: number;
  #closed = false;
  #waiting = false;
  #resolveReadable: (() => void)[] = [];
  readonly #log: ProcessOutput;
  readonly #options: OutputReaderOptions;

  constructor(log: ProcessOutput, sequence: number, skipped: number, options: OutputReaderOptions) {
    this.#log = log;
    this.sequence = sequence;
    this.#skipped = skipped;
    this.#options = options;
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

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
