import { Fifo } from './fifo.js';

export interface WaitingBytes {
  waitingBytes: number;
}

/** Queued chunks, and the callback of the pending write. */
export class OutgoingBytes {
  readonly #ofSession: WaitingBytes;
  /** The next chunk, and the number of bytes already taken from it. */
  #first: Buffer | undefined;
  #offset = 0;
  readonly #others = new Fifo<Buffer>();
  #length = 0;
  #done: (() => void) | undefined;
  #mayWaitBytes = 0;

  constructor(ofSession: WaitingBytes) {
    this.#ofSession = ofSession;
  }

  get length(): number {
    return this.#length;
  }

  /** {@link settle} calls `done` when no more than `mayWaitBytes` are left in total. The caller puts nothing else until then. */
  put(chunks: readonly Buffer[], mayWaitBytes: number, done: () => void): void {
    for (const chunk of chunks) {
      if (chunk.length === 0) continue;
      this.#grow(chunk.length);
      if (this.#first === undefined) this.#first = chunk;
      else this.#others.push(chunk);
    }
    this.#done = done;
    this.#mayWaitBytes = mayWaitBytes;
  }

  /** Fills `target` from position `at`. The caller ensures that enough bytes are queued. */
  take(target: Buffer, at: number): void {
    for (let position = at; position < target.length;)
      position += this.#next(target.length - position).copy(target, position);
  }

  /** Returns at most `most` bytes without copying; stops at a chunk with fewer than `least` bytes left. */
  takeViews(most: number, least: number): Buffer[] {
    const views: Buffer[] = [];
    for (let left = most; left > 0 && this.#firstLength >= least;) {
      const view = this.#next(left);
      views.push(view);
      left -= view.length;
    }
    return views;
  }

  settle(): void {
    if (this.#length > this.#mayWaitBytes || this.#done === undefined) return;
    const done = this.#done;
    this.#done = undefined;
    done();
  }

  /** Drops all queued bytes and completes the write. */
  discard(): void {
    this.#first = undefined;
    this.#offset = 0;
    this.#others.clear();
    this.#grow(-this.#length);
    this.settle();
  }

  get #firstLength(): number {
    return (this.#first?.length ?? 0) - this.#offset;
  }

  #next(most: number): Buffer {
    const chunk = this.#first;
    if (chunk === undefined) throw new RangeError('took more bytes than wait to be sent');
    const next = chunk.subarray(this.#offset, this.#offset + most);
    this.#grow(-next.length);
    this.#offset += next.length;
    if (this.#offset === chunk.length) {
      this.#first = this.#others.shift();
      this.#offset = 0;
    }
    return next;
  }

  #grow(bytes: number): void {
    this.#length += bytes;
    this.#ofSession.waitingBytes += bytes;
  }
}
