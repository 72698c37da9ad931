import { type DuplicatePeer, isElementId, TOLD } from './element-list.js';

/** Groups elements by their key, in the order of their first members. Elements without a key are left out. */
export function groupsBy<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string | undefined,
): readonly (readonly Item[])[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

/** Returns the first duplicates by id. Leaves out those whose ids cannot be shown. */
export function shownDuplicates(
  all: Iterable<Readonly<Record<'id' | 'of', unknown>> & { readonly isStale: boolean }>,
): readonly DuplicatePeer[] {
  const shown = new Map<string, DuplicatePeer>();
  for (const { id, of, isStale } of all)
    if (isElementId(id) && isElementId(of) && !shown.has(id)) shown.set(id, { id, of, isStale });
  return [...shown.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, TOLD);
}
