import type { Clock } from '@wins/time';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** Longer waits are those between two passes; shorter ones come between two looks at the service. */
const LONGEST_LOOK_MS = 1_000;
const REAL_LOOK_MS = 20;

/**
 * Clock of a kept service. The service is a real process, which needs an unknown time. The time passes only when the process never becomes what is
 * waited for, and then at once. Between two passes it stands still until the signal aborts.
 */
export function patientClock(isHopeless: () => Promise<boolean>): Clock {
  let nowMs = Date.parse('2026-11-22T00:00:00Z');
  return {
    now: () => new Date(nowMs),
    monotonicMs: () => nowMs,
    wait: async (ms, { signal } = {}) => {
      signal?.throwIfAborted();
      if (ms > LONGEST_LOOK_MS) await once(new EventTarget(), 'never', { signal });
      else if (await isHopeless()) nowMs += ms;
      else await delay(REAL_LOOK_MS, undefined, { signal });
    },
  };
}
