import { type ClientIdentity, TransientMap, UNIDENTIFIED } from '@wins/base';
import type { ResourceRow } from './resources.js';

/** Why a client does not get, or keep, something: it has its share, or there is no more and it has the most. */
export type LimitReason = 'share' | 'full';

/** Part of a resource that a client holds. */
export interface Claim {
  readonly held: number;
  /** Holds so much from now on. At the limit something has to yield, which may be this claim. */
  set(amount: number): void;
  /** Gives all back; later changes have no effect. Idempotent. */
  release(): void;
}

/** How a claim is made. */
export interface ClaimOptions {
  /** Called once when the claim is refused or has to yield; it has been released by then. */
  readonly end?: (why: LimitReason) => void;
  /** Whether nobody misses it, so that it yields before others. Default: never. */
  readonly isIdle?: () => boolean;
  /** Default 1. */
  readonly amount?: number;
}

/** Learns of each claim that is refused or yields. A hostile client can cause many of these. */
export type ToldOfLimit = (client: ClientIdentity, why: LimitReason) => void;

interface Party {
  readonly client: ClientIdentity;
  held: number;
  readonly claims: TransientMap<number, OwnClaim>;
}

interface OwnClaim extends Claim {
  readonly number: number;
  readonly options: ClaimOptions;
  readonly party: Party;
  held: number;
}

interface Waiting {
  readonly client: ClientIdentity;
  readonly granted: (claim: Claim) => void;
}

/**
 * Shares one resource among clients. A client may have its share: an equal part of what there is for all clients that hold some, and
 * never more than half. Clients that the system cannot identify have half a share, all together. When shares shrink because others
 * come, nobody loses anything until there is no more: then the client that holds most yields. So no client without any waits while
 * another has more than its share. Administrators have no share, and a reserve.
 */
export class Shares {
  readonly row: ResourceRow;
  readonly #told: ToldOfLimit;
  readonly #parties = new Map<string, Party>();
  /** By client; the client whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>();
  #ofAdministrators = 0;
  #ofOthers = 0;
  #opened = 0;

  /** @param told - Default: nobody is. */
  constructor(row: ResourceRow, told: ToldOfLimit = () => undefined) {
    this.row = row;
    this.#told = told;
  }

  /** Amount that all clients hold. */
  get held(): number {
    return this.#ofAdministrators + this.#ofOthers;
  }

  /** Makes a claim; undefined when it is refused. */
  take(client: ClientIdentity, options: ClaimOptions = {}): Claim | undefined {
    const claim = this.#open(client, options);
    claim.set(options.amount ?? 1);
    return isHeld(claim) ? claim : undefined;
  }

  /** Opens a claim of nothing, which grows as it is set. */
  open(client: ClientIdentity, end: (why: LimitReason) => void): Claim {
    return this.#open(client, { end });
  }

  /**
   * Makes a claim of one when it is this client's turn, which may be at once. A client that asks a
   * thousand times delays only itself.
   *
   * @returns Gives up waiting; nothing once the claim is made. Idempotent.
   */
  wait(client: ClientIdentity, granted: (claim: Claim) => void): () => void {
    if (this.#waiting.size === 0 && this.#mayTake(client)) {
      const claim = this.take(client);
      if (claim !== undefined) {
        granted(claim);
        return () => undefined;
      }
    }
    const waiting: Waiting = { client, granted };
    const queue = this.#waiting.get(client.key) ?? [];
    this.#waiting.set(client.key, queue);
    queue.push(waiting);
    this.#grant();
    return () => {
      const at = queue.indexOf(waiting);
      if (at < 0) return;
      queue.splice(at, 1);
      if (queue.length === 0) this.#waiting.delete(client.key);
    };
  }

  #open(client: ClientIdentity, options: ClaimOptions): OwnClaim {
    const party = this.#parties.get(client.key) ?? newParty(client);
    this.#parties.set(client.key, party);
    const claim: OwnClaim = {
      ...{ number: (this.#opened += 1), options, party, held: 0 },
      set: (amount) => this.#set(claim, amount),
      release: () => this.#release(claim),
    };
    party.claims.set(claim.number, claim);
    return claim;
  }

  #set(claim: OwnClaim, amount: number): void {
    const { party } = claim;
    if (!isHeld(claim)) return;
    const isMore = amount > claim.held;
    this.#count(claim, amount);
    if (!isMore) return;
    while (party.held > this.#shareOf(party)) {
      if (this.#yield(this.#firstToYield(party) ?? claim, 'share') === claim) return;
    }
    while (this.#isOver(party)) {
      const most = this.row.atLimit === 'yields' ? this.#most(party) : party;
      if (this.#yield(this.#firstToYield(most) ?? claim, 'full') === claim) return;
    }
  }

  #count(claim: OwnClaim, amount: number): void {
    const change = amount - claim.held;
    claim.held = amount;
    claim.party.held += change;
    if (claim.party.client.isAdministrator) this.#ofAdministrators += change;
    else this.#ofOthers += change;
  }

  #release(claim: OwnClaim): void {
    const { claims, client } = claim.party;
    if (!claims.delete(claim.number)) return;
    this.#count(claim, 0);
    if (claims.size === 0) this.#parties.delete(client.key);
    this.#grant();
  }

  /** Takes a claim back. */
  #yield(claim: OwnClaim, why: LimitReason): OwnClaim {
    this.#release(claim);
    this.#told(claim.party.client, why);
    claim.options.end?.(why);
    return claim;
  }

  /** Reports whether the party would exceed the total. Use by administrators counts against their reserve first. */
  #isOver({ client }: Party, more = 0): boolean {
    const { total, reserve } = this.row;
    if (client.isAdministrator) return this.held + more > total;
    return this.#ofOthers + more + Math.max(reserve, this.#ofAdministrators) > total;
  }

  #shareOf({ client }: Party): number {
    if (client.isAdministrator || client.isEverybody) return Infinity;
    const { total, floor } = this.row;
    let present = 0;
    for (const { client: each, held } of this.#parties.values()) {
      if (held > 0 && !each.isAdministrator) present += 1;
    }
    const share = Math.max(floor, Math.floor(total / Math.max(2, present)));
    return Math.max(1, Math.floor(share * weightOf(client)));
  }

  /** The party that has the most, who asks among equals. No administrator yields to others. */
  #most(asks: Party): Party {
    let most = asks;
    for (const party of this.#parties.values()) {
      if (party.client.isAdministrator || party.held === 0) continue;
      if (most.client.isAdministrator || weighed(party) > weighed(most)) most = party;
    }
    return most;
  }

  /** The oldest that is idle; else the newest of the largest. None where nothing can be taken back. */
  #firstToYield({ claims }: Party): OwnClaim | undefined {
    if (this.row.atLimit !== 'yields') return undefined;
    let largest: OwnClaim | undefined;
    for (const claim of claims.values()) {
      if (claim.held === 0) continue;
      if (claim.options.isIdle?.() === true) return claim;
      if (claim.held >= (largest?.held ?? 0)) largest = claim;
    }
    return largest;
  }

  /** Serves those who wait, client by client in turn, as far as there is something for them. */
  #grant(): void {
    for (const [key, queue] of this.#waiting) {
      const [next] = queue;
      if (next === undefined || !this.#mayTake(next.client)) continue;
      queue.shift();
      // Behind all others, who are visited before it.
      this.#waiting.delete(key);
      if (queue.length > 0) this.#waiting.set(key, queue);
      const claim = this.take(next.client);
      if (claim !== undefined) next.granted(claim);
    }
  }

  #mayTake(client: ClientIdentity): boolean {
    const party = this.#parties.get(client.key) ?? newParty(client);
    return party.held < this.#shareOf(party) && !this.#isOver(party, 1);
  }
}

function newParty(client: ClientIdentity): Party {
  return { client, held: 0, claims: new TransientMap() };
}

/** Whether it was not given back, nor taken back. */
function isHeld({ number, party }: OwnClaim): boolean {
  return party.claims.has(number);
}

/** Clients that the system cannot identify are one, and less than another. */
export function weightOf({ key }: ClientIdentity): number {
  return key === UNIDENTIFIED ? 0.5 : 1;
}

function weighed({ client, held }: Party): number {
  return held / weightOf(client);
}
