import { MAX_PEERS, type DesiredPeer } from '../plan/judge-peers.js';

/** Why an element of a source is no peer. Whether a peer may have a route is judged later. */
export type ElementFault =
  'badElement' | 'badId' | 'repeatedId' | 'noSubnet' | 'badSubnet' | 'noNextHop' | 'badNextHop';

export interface SkippedElement {
  /** Empty where the element has none that can be shown. */
  readonly id: string;
  readonly code: ElementFault;
}

export interface GatheredPeers {
  /** In the order of ids. */
  readonly peers: readonly DesiredPeer[];
  /** The first 64. */
  readonly skipped: readonly SkippedElement[];
  readonly skippedCount: number;
  /** Whether peers were left out, those with the last ids. */
  readonly isLimited: boolean;
}

const TOLD = 64;
/** No network and no address is longer. */
const MAX_TEXT = 64;
/** The form of uuids and of names of nodes. */
const ID = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/i;

/** Gathers the peers of one snapshot, element by element, in bounded memory. The result does not depend on their order. */
export class PeerList {
  #peers = new Map<string, DesiredPeer | 'repeated'>();
  readonly #skipped: SkippedElement[] = [];
  #skippedCount = 0;
  #isLimited = false;

  /** Adds an element, whatever its parts are. A part that is absent, null or empty counts as none. */
  add(id: unknown, subnet: unknown, nextHop: unknown): void {
    if (!isPeerId(id)) {
      this.skip('badId');
      return;
    }
    const known = this.#peers.get(id);
    if (known !== undefined) {
      this.skip('repeatedId', id);
      // Whichever came first: neither is believed.
      this.#peers.set(id, 'repeated');
      return;
    }
    const fault = elementFault(subnet, nextHop);
    if (fault !== undefined) {
      this.skip(fault, id);
      return;
    }
    this.#peers.set(id, { id, subnet: subnet as string, nextHop: nextHop as string });
    if (this.#peers.size >= 4 * MAX_PEERS) this.#cut();
  }

  skip(code: ElementFault, id = ''): void {
    this.#skippedCount += 1;
    if (this.#skipped.length < TOLD) this.#skipped.push({ id, code });
  }

  result(): GatheredPeers {
    this.#cut();
    const peers = [...this.#peers.values()].filter((one) => one !== 'repeated');
    return {
      ...{ peers, skipped: this.#skipped, skippedCount: this.#skippedCount },
      isLimited: this.#isLimited,
    };
  }

  #cut(): void {
    const sorted = [...this.#peers].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#isLimited ||= sorted.length > MAX_PEERS;
    this.#peers = new Map(sorted.slice(0, MAX_PEERS));
  }
}

export function isPeerId(id: unknown): id is string {
  return typeof id === 'string' && ID.test(id);
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
