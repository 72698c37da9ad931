import type { RunMarker, LinuxProcessEntry } from './linux-process-entry.js';
import { setTimeout as delay } from 'node:timers/promises';

/** Facts that show the mark of a process. */
export type MarkedProcess = Pick<LinuxProcessEntry, 'marker' | 'isBetweenPrograms'>;

/**
 * Returns a function that reads marks for one scan of all processes. During `execve` a process has no environment: the function
 * waits for it, 1 ms at a time, at most `waits` times per scan, since a process can make its `execve` last forever. Then it
 * treats the process as unmarked.
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
