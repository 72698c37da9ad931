import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from './ports.js';

/** A timer of Node that is longer ends at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The time of this system. */
export const systemClock: Clock = {
  now: () => new Date(),
  wait: async (ms, signal) => {
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
