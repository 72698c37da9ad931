import type { Abortable } from 'node:events';
import { MAX_BLOCK_BYTES, OutputBlock } from './output-block.js';
import {
  partsOf,
  type OutputPart,
  type OutputReader,
  type OutputSource,
  type OutputStream,
  type TreeLog,
} from './output-log.js';

// More than the kernel can buffer in both pipes of a child.
const DRAIN_ALLOWANCE_BYTES = 2 * 1024 * 1024;

/**
 * Bounded output log of one run, shared by all its readers. While a reader is attached, the source pauses when the
 * slowest reader is `maxBufferedBytes` behind, so nothing is lost. Without readers, the log keeps only the newest
 * `maxBufferedBytes`, and the child never waits.
 *
 * Before the first reader or `stopHolding()`, the log acts as if an idle reader were attached, because clients attach
 * shortly after the start.
 */
export class ProcessOutput implements TreeLog {
  readonly #source: OutputSource;
  readonly #maxBufferedBytes: number;
  readonly #readers = new Set<LogReader>();
  readonly #blocks: OutputBlock[] = [];
  #firstSequence = 0;
  #endsAt = 0;
  #droppedBytes = 0;
  #writtenBytes = 0;
  #pauseAt: number;
  #paused = false;
  #closed = false;
  #holding = true;
  readonly #holdTimer: NodeJS.Timeout | undefined;

  /** @param firstReaderMs - Time until `stopHolding()`. Default: it is not called. */
  constructor(maxBufferedBytes: number, source: OutputSource, firstReaderMs?: number) {
    this.#maxBufferedBytes = maxBufferedBytes;
    this.#pauseAt = maxBufferedBytes;
    this.#source = source;
    if (firstReaderMs !== undefined)
      this.#holdTimer = setTimeout(() => this.stopHolding(), firstReaderMs);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Total `cost` of the blocks in the log. */
  get bufferedBytes(): number {
    return this.#endsAt - (this.#blocks[0]?.startsAt ?? this.#endsAt);
  }

  /** The log takes ownership of the buffer. */
  append(stream: OutputStream, bytes: Buffer, timeMs = Date.now()): void {
    if (this.#closed || bytes.length === 0) return;
    for (let at = 0; at < bytes.length; at += MAX_BLOCK_BYTES) {
      this.#add(stream, bytes.subarray(at, at + MAX_BLOCK_BYTES), timeMs);
    }
    this.#dropOldest();
    this.#steer();
    for (const reader of this.#readers) reader.wake();
  }

  /** A slow reader pauses the source. */
  read({ signal }: Abortable = {}): LogReader {
    const reader = new LogReader(this, this.#firstSequence, this.#droppedBytes, signal);
    this.#readers.add(reader);
    this.#holding = false;
    if (signal?.aborted === true) reader.close();
    this.#steer();
    return reader;
  }

  stopHolding(): void {
    this.#holding = false;
    this.#dropOldest();
    this.#steer();
  }

  /**
   * Lets the source read the kernel's buffers to the end without waiting for readers. An allowance limits the read, because
   * an unrelated process may still write to the pipe.
   */
  finish(): void {
    clearTimeout(this.#holdTimer);
    this.#pauseAt = this.#maxBufferedBytes + DRAIN_ALLOWANCE_BYTES;
    this.#steer();
  }

  /** Readers end once they have read the remaining blocks. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#holdTimer);
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

  #add(stream: OutputStream, piece: Buffer, timeMs: number): void {
    const tail = this.#blocks.at(-1);
    if (tail?.gather(stream, piece) !== true) {
      const offset = this.#writtenBytes;
      this.#blocks.push(new OutputBlock({ stream, offset, timeMs }, piece, this.#endsAt));
    }
    this.#writtenBytes += piece.length;
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

export class LogReader implements OutputReader {
  /** Number of the block under the cursor; the log keeps this block and all later ones. */
  sequence: number;
  /** Position in this block. */
  #at = 0;
  /** Output that was dropped before the reader came, and that it was not yet told of. */
  #missingBytes: number;
  #closed = false;
  #wake: (() => void) | undefined;
  readonly #log: ProcessOutput;
  readonly #signal: AbortSignal | undefined;

  constructor(
    log: ProcessOutput,
    sequence: number,
    missingBytes: number,
    signal: AbortSignal | undefined,
  ) {
    this.#log = log;
    this.sequence = sequence;
    this.#missingBytes = missingBytes;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get caughtUp(): boolean {
    const block = this.#log.block(this.sequence);
    if (block === undefined) return true;
    return this.#at >= block.length && this.#log.block(this.sequence + 1) === undefined;
  }

  /** True once everything was read, or the reader is closed. */
  get ended(): boolean {
    return this.#closed || (this.#log.closed && this.#missingBytes === 0 && this.caughtUp);
  }

  next(): Promise<OutputPart | undefined> {
    const part = this.take();
    if (part !== undefined || this.ended) return Promise.resolve(part);
    const woken = new Promise<void>((resolve) => (this.#wake = resolve));
    return woken.then(() => this.next());
  }

  /** Returns undefined when no part is available. */
  take(): OutputPart | undefined {
    if (this.#closed) return undefined;
    if (this.#missingBytes > 0) {
      const bytes = this.#missingBytes;
      this.#missingBytes = 0;
      return { stream: 'skipped', offset: 0, bytes };
    }
    let block = this.#log.block(this.sequence);
    if (block !== undefined && this.#at >= block.length) {
      const following = this.#log.block(this.sequence + 1);
      if (following !== undefined) {
        this.sequence += 1;
        this.#at = 0;
        block = following;
      }
    }
    if (block === undefined || this.#at >= block.length) return undefined;
    const { stream, timeMs } = block;
    const [offset, bytes] = [block.offset + this.#at, block.bytesFrom(this.#at)];
    this.#at = block.length;
    this.#log.onReaderMoved();
    return { stream, offset, timeMs, bytes };
  }

  wake(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  rest(): void {
    // Nothing is read ahead: readers share the blocks of the log.
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#log.detach(this);
    this.wake();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  [Symbol.asyncIterator](): AsyncGenerator<OutputPart, void, undefined> {
    return partsOf(this);
  }

  readonly #onAbort = (): void => this.close();
}
