import { isDeepStrictEqual } from 'node:util';

/** This many items may always disappear at once. */
const FREELY_DROPPED = 3;
const CONFIRMED_AFTER_MS = 10_000;

/**
 * Accepts the loss of most items only if the same snapshot comes again 10 s later, because a source that has just started
 * may list too few items.
 */
export class ShrinkGuard<Item extends object> {
  #doubted: { readonly items: readonly Item[]; readonly sinceMs: number } | undefined;

  /**
   * @param nowMs - Of a monotonic clock.
   * @returns 0 for an accepted snapshot, else the milliseconds until it should be read again.
   */
  judge(known: readonly Item[], next: readonly Item[], nowMs: number): number {
    const texts = new Set(next.map(textOf));
    const dropped = known.filter((one) => !texts.has(textOf(one))).length;
    const doubted = this.#doubted;
    this.#doubted = undefined;
    if (dropped <= FREELY_DROPPED || dropped * 2 <= known.length) return 0;
    const isSame = doubted !== undefined && isDeepStrictEqual(doubted.items, next);
    const sinceMs = isSame ? doubted.sinceMs : nowMs;
    const leftMs = CONFIRMED_AFTER_MS - (nowMs - sinceMs);
    if (leftMs <= 0) return 0;
    this.#doubted = { items: next, sinceMs };
    return leftMs;
  }
}

function textOf(item: object): string {
  return Object.values(item).join(' ');
}
