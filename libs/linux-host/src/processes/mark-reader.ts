import type { RunMarker, LinuxProcessEntry } from './linux-process-entry.js';
import { setTimeout as delay } from 'node:timers/promises';

/** The properties that reading the mark of a process uses. */
export type MarkedProcess = Pick<LinuxProcessEntry, 'marker' | 'isBetweenPrograms'>;

/**
 * Returns a function that reads marks during one scan of all processes. Within `execve` a process has no environment, so the function waits
 * in steps of 1 ms, at most `waits` times per scan, because a process can prolong its `execve` forever. Then it treats the process as
 * unmarked.
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
