import type { Clock } from '@wins/time';

/** A clock whose waits end at once and move its time. */
export class LeapingClock implements Clock {
  /** How long was waited, in order. */
  readonly waits: number[] = [];
  #nowMs: number;

  constructor(now = new Date('2026-11-22T00:00:00Z')) {
    this.#nowMs = now.getTime();
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  /** Advances the time, as work beside the waits does. */
  advance(ms: number): void {
    this.#nowMs += ms;
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.waits.push(ms);
    this.#nowMs += ms;
    // Gives the code that aborts a turn.
    await new Promise(setImmediate);
    signal?.throwIfAborted();
  }
}
