import { setTimeout as delay } from 'node:timers/promises';

/** The time between two attempts. */
export interface Clock {
  now(): Date;
  /** Rejects with the reason of the signal once it is aborted. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

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
