import type { Clock } from '../ports.js';

/** Lets one loop sleep until a time or an event. An event while the loop is awake ends its next sleep. */
export class WakeUp {
  readonly #clock: Clock;
  #rung = false;
  #ring: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    this.#ring?.();
  }

  /** Resolves with true at `until`, even if the clock was set back, and with false at an event or on abort. */
  async sleep(until: Date | undefined, signal: AbortSignal): Promise<boolean> {
    let isTime = false;
    if (!this.#rung && !signal.aborted) {
      const over = new AbortController();
      const rung = new Promise<void>((resolve) => {
        this.#ring = resolve;
        signal.addEventListener('abort', () => resolve(), { signal: over.signal });
      });
      try {
        const time = until && this.#waitUntil(until, over.signal).then(() => (isTime = true));
        await Promise.race(time ? [rung, time] : [rung]);
      } finally {
        over.abort();
        this.#ring = undefined;
      }
    }
    this.#rung = false;
    return isTime;
  }

  async #waitUntil(until: Date, signal: AbortSignal): Promise<void> {
    const ms = Math.max(0, until.getTime() - this.#clock.now().getTime());
    await this.#clock.wait(ms, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
