import type { Abortable } from 'node:events';
import type { Clock } from '@wins/time';

/** Clock for tests. Its `wait` advances the time and ends without a real wait. */
export class LeapingClock implements Clock {
  readonly waits: number[] = [];
  #nowMs: number;

  constructor(now = new Date('2026-11-22T00:00:00Z')) {
    this.#nowMs = now.getTime();
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }

  async wait(ms: number, { signal }: Abortable = {}): Promise<void> {
    signal?.throwIfAborted();
    this.waits.push(ms);
    this.#nowMs += ms;
    // Let other code abort the wait.
    await new Promise(setImmediate);
    signal?.throwIfAborted();
  }
}
