import type { Abortable } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** Longest delay of a Node timer. With a longer one, the timer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A source of time, which tests can replace. */
export interface Clock {
  /** Time of day; jumps when somebody sets the clock. */
  now(): Date;
  /** Time in milliseconds that only passes: nobody can set it. Its beginning means nothing. */
  monotonicMs(): number;
  /** Waits, even beyond the limit of a Node timer. @throws The reason of the signal. */
  wait(ms: number, options?: Abortable): Promise<void>;
}

/** Reads the system's time. Waits of any length are possible, although a timer of Node ends after at most 24.8 days. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  wait: async (ms, { signal } = {}) => {
    signal?.throwIfAborted();
    try {
      let leftMs = ms;
      for (; leftMs > LONGEST_TIMER_MS; leftMs -= LONGEST_TIMER_MS)
        await delay(LONGEST_TIMER_MS, undefined, { signal });
      await delay(leftMs, undefined, { signal });
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    }
  },
};
