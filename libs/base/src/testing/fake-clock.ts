interface Waiting {
  readonly endMs: number;
  readonly resolve: () => void;
}

import type { Abortable } from 'node:events';

/** A `Clock` of `@wins/time` that only `advance` moves. */
export class FakeClock {
  #nowMs: number;
  readonly #waiting = new Set<Waiting>();
  #onWait: (() => void)[] = [];

  constructor(now = new Date('2026-11-22T00:31:01Z')) {
    this.#nowMs = now.getTime();
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  /** Remaining milliseconds, shortest first. */
  get waits(): readonly number[] {
    return [...this.#waiting].map(({ endMs }) => endMs - this.#nowMs).sort((a, b) => a - b);
  }

  async wait(ms: number, { signal }: Abortable = {}): Promise<void> {
    signal?.throwIfAborted();
    let onAbort = (): void => undefined;
    await new Promise<void>((resolve, reject) => {
      const waiting = { endMs: this.#nowMs + ms, resolve };
      this.#waiting.add(waiting);
      for (const tell of this.#onWait.splice(0)) tell();
      onAbort = () => {
        this.#waiting.delete(waiting);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', onAbort);
    }).finally(() => signal?.removeEventListener('abort', onAbort));
  }

  async waiting(): Promise<void> {
    if (this.#waiting.size === 0) await new Promise<void>((resolve) => this.#onWait.push(resolve));
  }

  /** Ends due waits in order. Waits that start as a result stay pending. */
  advance(ms: number): void {
    this.#nowMs += ms;
    const due = [...this.#waiting].filter(({ endMs }) => endMs <= this.#nowMs);
    for (const waiting of due.sort((a, b) => a.endMs - b.endMs)) {
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }
}
