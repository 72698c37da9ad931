import type { Clock } from '@wins/time';
import { once } from 'node:events';

/** Clock whose waits last until `elapse`. */
export class StoppedClock implements Clock {
  readonly waits: number[] = [];
  readonly #elapsed = new EventTarget();

  now(): Date {
    return new Date(0);
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    this.waits.push(ms);
    await once(this.#elapsed, 'elapsed', { signal });
  }

  /** Ends all waits, and returns once the code that waited has run. */
  async elapse(): Promise<void> {
    this.#elapsed.dispatchEvent(new Event('elapsed'));
    await new Promise(setImmediate);
  }
}
