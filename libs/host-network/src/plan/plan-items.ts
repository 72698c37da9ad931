import type { ItemChange, ListedItem, NetworkItem } from '@wins/base';

/**
 * State of a desired route or item. `applied`: exists and is ours. `foreign`: exists, but another program made it, so wins will
 * not remove it. `planned`: a step of this plan makes it. `waiting`: something that it needs is missing. `conflict`: another
 * program's route or item prevents it.
 */
export type RouteState =
  | 'applied'
  | 'foreign'
  | 'planned'
  | 'waiting'
  | 'conflict'
  | 'rejected'
  | 'failed';

/** An item that the daemon created. `pending`: recorded before the step that creates it. */
export interface OwnedItem {
  readonly item: NetworkItem;
  readonly state: 'pending' | 'applied';
  /** Value of the item before the daemon changed it. Only for `forwarding`, because all other items are missing until the daemon adds them. */
  readonly prior?: string | undefined;
}

export interface ItemStanding {
  readonly item: NetworkItem;
  readonly state: RouteState;
  readonly detail: string;
}

export interface ItemPlan {
  /** Removals first. An item is removed before the items that it needs. */
  readonly steps: readonly (ItemChange & { readonly reason: string })[];
  readonly record: readonly OwnedItem[];
  readonly standings: readonly ItemStanding[];
  readonly orphans: readonly NetworkItem[];
}

/** Order of creation. Forwarding is enabled last, when all filters and rules exist. */
const STAGES: readonly (readonly NetworkItem['kind'][])[] = [
  ['bridge'],
  ['address', 'filter', 'rule'],
  ['forwarding'],
];

/**
 * Plans the changes that add the `wanted` items to the host and remove the daemon's other items. Follows the same rules as `plan`
 * does for routes.
 * While an item is missing, the plan removes the items that need it, so that a failure never leaves the host more open.
 */
export function planItems(
  wanted: readonly NetworkItem[],
  listed: readonly ListedItem[],
  record: readonly OwnedItem[],
  tried: ReadonlyMap<string, string>,
): ItemPlan {
  const owned = record.filter(({ item }) => listed.some((at) => isOurs(at, item)));
  const recordedBefore = new Set(
    record.filter(({ state }) => state === 'applied').map(({ item }) => itemKey(item)),
  );
  const staying = new Set<OwnedItem>();
  const standings: ItemStanding[] = [];
  const due: NetworkItem[] = [];
  const lacks: NetworkItem[] = [];
  for (const kinds of STAGES) {
    const isStanding = lacks.length === 0;
    for (const item of wanted.filter(({ kind }) => kinds.includes(kind))) {
      const stands = (state: RouteState, detail = ''): void => {
        if (state !== 'applied' && state !== 'foreign') lacks.push(item);
        standings.push({ item, state, detail });
      };
      const own = owned.find((one) => itemKey(one.item) === itemKey(item));
      const there = listed.find((at) => isRivalOf(at, item));
      const outcome = tried.get(itemKey(item));
      if (!isStanding) stands('waiting', 'an item that it needs is missing');
      else if (own !== undefined) {
        staying.add(own);
        stands('applied');
      } else if (there?.value === item.value) stands('foreign', 'another program made it');
      else if (outcome !== undefined) stands('failed', outcome);
      else if (there === undefined || isOwned(owned, there) || item.kind === 'forwarding') {
        const reason = recordedBefore.has(itemKey(item)) ? 'it was removed' : 'configured';
        due.push(item);
        stands('planned', reason);
      } else stands('conflict', 'another program made a different one');
    }
  }

  const going = owned.filter((one) => !staying.has(one));
  const highest = Math.max(...going.map(({ item }) => stageOf(item)));
  // Remove only items of the highest stage; a later plan removes the items that they needed.
  const removals = going.filter(
    ({ item }) => stageOf(item) === highest && !tried.has(itemKey(item, 'remove')),
  );
  const isFree = (item: NetworkItem): boolean =>
    going.every((one) => !isRivalOf(one.item, item) || removals.includes(one));
  const additions = due.filter(isFree).map((item) => {
    const prior = listed.find((at) => isRivalOf(at, item) && item.kind === 'forwarding')?.value;
    return { item, ...(prior !== undefined && { prior }) };
  });
  const known = new Set([...wanted, ...record.map(({ item }) => item)].map((one) => itemKey(one)));
  return {
    steps: [
      ...removals.map(({ item, prior }) => ({
        op: 'remove' as const,
        item,
        reason: 'no longer configured, or an item that it needs is missing',
        ...(prior !== undefined && { prior }),
      })),
      ...additions.map((added) => ({
        op: 'add' as const,
        ...added,
        reason: standings.find(({ item }) => item === added.item)?.detail ?? '',
      })),
    ],
    record: [
      ...owned.map((one) => ({ ...one, state: 'applied' as const })),
      ...additions.map((added) => ({ ...added, state: 'pending' as const })),
    ].sort((a, b) => (itemKey(a.item) < itemKey(b.item) ? -1 : 1)),
    standings,
    orphans: listed
      .filter((at) => at.isMarked === true && !known.has(itemKey(at)))
      .map(({ kind, key, value }) => ({ kind, key, value })),
  };
}

export function itemKey({ kind, key, value }: NetworkItem, op: ItemChange['op'] = 'add'): string {
  return `${op} ${kind} ${key} ${value}`;
}

function isRivalOf(one: NetworkItem, other: NetworkItem): boolean {
  return one.kind === other.kind && one.key === other.key;
}

function isOurs(listed: ListedItem, recorded: NetworkItem): boolean {
  return listed.isMarked !== false && itemKey(listed) === itemKey(recorded);
}

function isOwned(owned: readonly OwnedItem[], listed: ListedItem): boolean {
  return owned.some(({ item }) => isOurs(listed, item));
}

function stageOf({ kind }: NetworkItem): number {
  return STAGES.findIndex((kinds) => kinds.includes(kind));
}
