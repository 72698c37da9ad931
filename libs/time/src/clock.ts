import { setTimeout as delay } from 'node:timers/promises';

/** A timer of Node that is longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A source of time. Libraries take one as an option, so that specs fake it. */
export interface Clock {
  /** The time of day. It jumps when somebody sets it. */
  now(): Date;
  /**
   * Resolves after `ms` milliseconds, however many they are.
   *
   * @throws The reason of the signal when it aborts first.
   */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

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
