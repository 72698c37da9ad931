import type { RunMarker, LinuxProcessEntry } from './linux-process-entry.js';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

export type MarkedProcess = Pick<LinuxProcessEntry, 'marker' | 'isBetweenPrograms'>;

/**
 * Reads marks during one scan of all processes. Within `execve` a process has no environment, so the reader waits in
 * steps of 1 ms. It waits at most `waits` times per scan, because a process can prolong its `execve` forever. After that,
 * such a process counts as unmarked.
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

/** Lets the event loop run after every `itemsPerTurn` items. */
export async function* inTurns<Item>(
  items: Iterable<Item>,
  itemsPerTurn: number,
): AsyncGenerator<Item, void> {
  let count = 0;
  for (const item of items) {
    count += 1;
    if (count % itemsPerTurn === 0) await nextTurn();
    yield item;
  }
}
