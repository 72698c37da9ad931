import type { Clock } from '@wins/system-agent';
import { setTimeout as delay } from 'node:timers/promises';

/** The time of this system. */
export const agentClock: Clock = {
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
