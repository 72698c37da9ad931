import type { DesiredPeer } from '../plan/judge-peers.js';

/**
 * Why an element of a source is no peer, or no container with published ports. Whether a peer may have a route, or a port be relayed, is
 * judged later.
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
  /** Empty where the element has none that can be shown. */
  readonly id: string;
  readonly code: ElementFault;
}

export interface Gathered<Item> {
  /** In the order of ids. */
  readonly items: readonly Item[];
  /** The first 64. */
  readonly skipped: readonly SkippedElement[];
  readonly skippedCount: number;
  /** Whether items were left out, those with the last ids. */
  readonly isLimited: boolean;
}

const TOLD = 64;
/** No network and no address is longer. */
const MAX_TEXT = 64;
/** The form of uuids and of names of nodes. */
const ID = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/i;

/** Gathers the elements of one snapshot, one after another, in bounded memory. The result does not depend on their order. */
export class ElementList<Item extends object> {
  readonly #most: number;
  #items = new Map<string, Item | 'repeated'>();
  readonly #skipped: SkippedElement[] = [];
  #skippedCount = 0;
  #isLimited = false;

  /** @param most - Elements beyond so many are left out, those with the last ids. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Adds what an element was read as, or why it could not be, whatever its id is. */
  add(id: unknown, read: Item | ElementFault): void {
    if (!isElementId(id)) {
      this.skip('badId');
      return;
    }
    const known = this.#items.get(id);
    if (known !== undefined) {
      this.skip('repeatedId', id);
      // Whichever came first: neither is believed.
      this.#items.set(id, 'repeated');
      return;
    }
    if (typeof read === 'string') {
      this.skip(read, id);
      return;
    }
    this.#items.set(id, read);
    if (this.#items.size >= 4 * this.#most) this.#cut();
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

/** Reads a peer. A part that is absent, null or empty counts as none. */
export function readPeer(
  id: unknown,
  subnet: unknown,
  nextHop: unknown,
): DesiredPeer | ElementFault {
  const fault = elementFault(subnet, nextHop);
  return fault ?? ({ id, subnet, nextHop } as DesiredPeer);
}

/** Why these are no texts that could be a network and an address. */
export function elementFault(subnet: unknown, nextHop: unknown): ElementFault | undefined {
  if (isNone(subnet)) return 'noSubnet';
  if (!isText(subnet)) return 'badSubnet';
  if (isNone(nextHop)) return 'noNextHop';
  return isText(nextHop) ? undefined : 'badNextHop';
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_TEXT;
}
