import type { Clock } from '@wins/time';

/** A clock whose waits end at once and advance its time. */
export class LeapingClock implements Clock {
  /** Requested waits in milliseconds, in order. */
  readonly waits: number[] = [];
  #nowMs: number;

  constructor(now = new Date('2026-11-22T00:00:00Z')) {
    this.#nowMs = now.getTime();
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  /** Advances the time, as work between waits does. */
  advance(ms: number): void {
    this.#nowMs += ms;
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.waits.push(ms);
    this.#nowMs += ms;
    // Let other code run, so that it can abort the wait.
    await new Promise(setImmediate);
    signal?.throwIfAborted();
  }
}
