import type { DesiredPeer } from '../plan/judge-peers.js';

/**
 * Reason why an element of a source is not a valid peer, or not a container with published ports. Whether a peer may have a route, or a port
 * may be relayed, is judged later.
 */
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

export interface SkippedElement {
  /** Empty when the element has no id that can be shown. */
  readonly id: string;
  readonly code: ElementFault;
}

export interface Gathered<Item> {
  /** Sorted by id. */
  readonly items: readonly Item[];
  /** The first 64 skipped elements. */
  readonly skipped: readonly SkippedElement[];
  readonly skippedCount: number;
  /** Whether items with the last ids were omitted. */
  readonly isLimited: boolean;
}

const TOLD = 64;
/** Maximum characters of a network or address. */
const MAX_TEXT = 64;
/** Format of UUIDs and node names. */
const ID = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/i;

/** Collects the elements of one snapshot one by one, in bounded memory. The result does not depend on their order. */
export class ElementList<Item extends object> {
  readonly #most: number;
  #items = new Map<string, Item | 'repeated'>();
  readonly #skipped: SkippedElement[] = [];
  #skippedCount = 0;
  #isLimited = false;

  /** @param most - Maximum number of elements; those with the last ids are omitted. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Adds a parsed element or its fault; the id may be of any type. */
  add(id: unknown, read: Item | ElementFault): void {
    if (!isElementId(id)) this.skip('badId');
    else if (this.#items.has(id)) {
      this.skip('repeatedId', id);
      // Both are dropped, whichever came first, because neither is trustworthy.
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
      ...{ items, skipped: this.#skipped, skippedCount: this.#skippedCount },
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

/** Parses a peer. Parts that are absent, null or empty count as missing. */
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
