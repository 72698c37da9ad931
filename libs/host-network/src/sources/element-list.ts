import type { DesiredPeer } from '../plan/judge-peers.js';

/** Reason to skip an element, or one port of a container. Later checks may still refuse a peer or port that was not skipped. */
export type ElementFault =
  | 'badElement'
  | 'badId'
  | 'repeatedId'
  | 'noSubnet'
  | 'badSubnet'
  | 'noNextHop'
  | 'badNextHop'
  | 'badAddress'
  | 'badPort';

/** An element of a source that is not usable. */
export interface SkippedElement {
  /** Empty if the element has no valid id. */
  readonly id: string;
  readonly code: ElementFault;
}

/** An element that shares its address with another one, or whose subnet another one has now. */
export interface DuplicatePeer {
  readonly id: string;
  /** The other element, which has the better claim. */
  readonly of: string;
  /** True if the element is left over from an earlier registration of its host. False: unknown. */
  readonly isStale: boolean;
}

/** The valid items of a list, and the elements that are not usable. */
export interface Gathered<Item> {
  /** Sorted by id. */
  readonly items: readonly Item[];
  /** The first 64 skipped elements. */
  readonly skipped: readonly SkippedElement[];
  /** Number of all skipped elements, also beyond the first 64. */
  readonly skippedCount: number;
  /** Whether items were omitted because there were too many. `ElementList` omits those whose ids sort last. */
  readonly isLimited: boolean;
  /** The first 64 by id. Absent: none. */
  readonly duplicates?: readonly DuplicatePeer[] | undefined;
}

/** Maximum number of skipped elements, and of duplicates, that a snapshot lists. */
export const TOLD = 64;
const MAX_TEXT = 64;
/** UUIDs and node names. */
const ID = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/i;

/** Collects the elements of a snapshot in bounded memory. Their order does not matter. */
export class ElementList<Item extends object> {
  readonly #most: number;
  #items = new Map<string, Item | 'repeated'>();
  readonly #skipped: SkippedElement[] = [];
  #skippedCount = 0;
  #isLimited = false;

  /** @param most - Maximum number of elements. If there are more, those with the last ids are omitted. */
  constructor(most: number) {
    this.#most = most;
  }

  add(id: unknown, read: Item | ElementFault): void {
    if (!isElementId(id)) this.skip('badId');
    else if (this.#items.has(id)) {
      this.skip('repeatedId', id);
      // Drop both, because neither is trustworthy.
      this.#items.set(id, 'repeated');
    } else if (typeof read === 'string') this.skip(read, id);
    else if (this.#items.set(id, read).size >= 4 * this.#most) this.#cut();
  }

  skip(code: ElementFault, id = ''): void {
    this.#skippedCount += 1;
    if (this.#skipped.length < TOLD) this.#skipped.push({ id, code });
  }

  result(): Gathered<Item> {
    this.#cut();
    const items = [...this.#items.values()].filter((one) => one !== 'repeated');
    return {
      items,
      skipped: this.#skipped,
      skippedCount: this.#skippedCount,
      isLimited: this.#isLimited,
    };
  }

  #cut(): void {
    const sorted = [...this.#items].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#isLimited ||= sorted.length > this.#most;
    this.#items = new Map(sorted.slice(0, this.#most));
  }
}

export function isElementId(id: unknown): id is string {
  return typeof id === 'string' && ID.test(id);
}

export function readPeer(
  id: unknown,
  subnet: unknown,
  nextHop: unknown,
): DesiredPeer | ElementFault {
  if (isNone(subnet)) return 'noSubnet';
  if (!isText(subnet)) return 'badSubnet';
  if (isNone(nextHop)) return 'noNextHop';
  return isText(nextHop) ? ({ id, subnet, nextHop } as DesiredPeer) : 'badNextHop';
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_TEXT;
}
