import { once } from 'node:events';
import type { Clock } from '../ports.js';

/** Lets one loop sleep until a time or an event. An event while the loop is awake ends its next sleep. */
export class WakeUp {
  readonly #clock: Clock;
  #rung = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung.abort();
  }

  /** Resolves at `untilMs` of the monotonic clock, at an event, or on abort. */
  async sleep(untilMs: number | undefined, signal: AbortSignal): Promise<void> {
    const { signal: woken } = this.#rung;
    const ring = (): void => this.ring();
    if (signal.aborted) ring();
    signal.addEventListener('abort', ring, { signal: woken });
    try {
      if (untilMs === undefined) await once(woken, 'abort', { signal: woken });
      else {
        const ms = Math.max(0, untilMs - this.#clock.monotonicMs());
        await this.#clock.wait(ms, { signal: woken });
      }
    } catch (error) {
      if (!woken.aborted) throw error;
    } finally {
      // Also removes the listener.
      ring();
      this.#rung = new AbortController();
    }
  }
}
