import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from './ports.js';

/** The time of this system. */
export const systemClock: Clock = {
  now: () => new Date(),
  wait: async (ms, signal) => {
    signal?.throwIfAborted();
    try {
      await delay(ms, undefined, { signal });
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    }
  },
};
