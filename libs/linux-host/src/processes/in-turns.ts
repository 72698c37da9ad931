import { setImmediate as nextTurn } from 'node:timers/promises';

/** Yields the items, and lets the event loop run after every `itemsPerTurn` items. */
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
