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

  /** Resolves with true at `until`, even if the clock was set back, and with false at an event or on abort. */
  async sleep(until: Date | undefined, signal: AbortSignal): Promise<boolean> {
    const { signal: woken } = this.#rung;
    const ring = (): void => this.ring();
    if (signal.aborted) ring();
    signal.addEventListener('abort', ring, { signal: woken });
    const ms = until && Math.max(0, until.getTime() - this.#clock.now().getTime());
    try {
      if (ms === undefined) await once(woken, 'abort', { signal: woken });
      else await this.#clock.wait(ms, { signal: woken });
      return !woken.aborted;
    } catch (error) {
      if (!woken.aborted) throw error;
      return false;
    } finally {
      // Also removes the listener.
      ring();
      this.#rung = new AbortController();
    }
  }
}
