import { setImmediate as nextTurn } from 'node:timers/promises';

/** Gives the items one after the other, and whatever else waits a turn of the event loop after each so many of them. */
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
