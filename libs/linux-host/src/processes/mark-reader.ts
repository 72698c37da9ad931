import { setTimeout as delay } from 'node:timers/promises';

import type { LinuxProcessEntry } from './linux-process-entry.js';
import type { RunMarker } from './run-marker.js';

/** What shows the mark of a process. */
export type MarkedProcess = Pick<LinuxProcessEntry, 'marker' | 'isBetweenPrograms'>;

/**
 * Gives a function that reads marks for one look at all processes, and waits for those that are just becoming another
 * program: so many times a millisecond in all, since a process can make its `execve` last for ever. Then it tells none.
 */
export function createMarkReader(
  waits = 1_000,
): (entry: MarkedProcess) => Promise<RunMarker | undefined> {
  let left = waits;
  return async (entry) => {
    for (;;) {
      const mark = entry.marker;
      if (!entry.isBetweenPrograms || left === 0) return mark;
      left -= 1;
      await delay(1);
    }
  };
}
