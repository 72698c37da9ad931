import { type ClientIdentity, TransientMap, UNIDENTIFIED } from '@wins/base';
import type { ResourceRow } from './resources.js';

/** `share`: the client has used its share. `full`: nothing is left, and the client holds the most. */
export type LimitReason = 'share' | 'full';

export interface Claim {
  readonly held: number;
  /** At the limit a claim is revoked, possibly this one. */
  set(amount: number): void;
  /** Idempotent; `set` has no effect afterwards. */
  release(): void;
}

export interface ClaimOptions {
  /** Called once when the claim was refused or revoked. */
  readonly end?: (why: LimitReason) => void;
  /** Idle claims are revoked first. Default: never idle. */
  readonly isIdle?: () => boolean;
  /** False: the claim is refused rather than made at the cost of idle claims. Default true. */
  readonly displaces?: boolean;
  /** Default 1. */
  readonly amount?: number;
}

/** Called for each refused or revoked claim; a hostile client can cause many calls. */
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
 * Shares one resource equally among the clients that use it, at most half for each. All unidentified clients together get half a share. A client
 * that claims more than its share loses claims. If a new claim exceeds the total, the client that holds the most loses claims. A resource that
 * revokes only idle claims refuses the new claim if none is idle. Administrators have a reserve instead of a share.
 */
export class Shares {
  readonly row: ResourceRow;
  readonly #told: ToldOfLimit;
  readonly #parties = new Map<string, Party>();
  /** Waiting claims by client, next client first. */
  readonly #waiting = new Map<string, Waiting[]>();
  #ofAdministrators = 0;
  #ofOthers = 0;
  #opened = 0;

  constructor(row: ResourceRow, told: ToldOfLimit = () => undefined) {
    this.row = row;
    this.#told = told;
  }

  get held(): number {
    return this.#ofAdministrators + this.#ofOthers;
  }

  take(client: ClientIdentity, options: ClaimOptions = {}): Claim | undefined {
    const claim = this.#open(client, options);
    claim.set(options.amount ?? 1);
    return isHeld(claim) ? claim : undefined;
  }

  /** Opens a claim of amount 0. */
  open(client: ClientIdentity, end: (why: LimitReason) => void): Claim {
    return this.#open(client, { end });
  }

  /** Queues a claim of amount 1. Clients take turns, so a client with many requests delays only itself. @returns A function that cancels the wait. */
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
      number: (this.#opened += 1),
      options,
      party,
      held: 0,
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
      if (this.#yield(this.#firstToYield(party, claim) ?? claim, 'share') === claim) return;
    }
    while (this.#isOver(party)) {
      const most = this.#most(party);
      if (this.#yield(this.#firstToYield(most, claim) ?? claim, 'full') === claim) return;
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

  #yield(claim: OwnClaim, why: LimitReason): OwnClaim {
    this.#release(claim);
    this.#told(claim.party.client, why);
    claim.options.end?.(why);
    return claim;
  }

  /** True when `more` would exceed the total. Administrators use their reserve first. */
  #isOver({ client }: Party, more = 0): boolean {
    const { total, reserve } = this.row;
    if (client.isAdministrator) return this.held + more > total;
    return this.#ofOthers + more + Math.max(reserve, this.#ofAdministrators) > total;
  }

  #shareOf({ client }: Party): number {
    if (client.isAdministrator || client.isEverybody) return Infinity;
    const { total, floor, atLimit } = this.row;
    let [present, ofOthers] = [0, 0];
    for (const party of this.#parties.values()) {
      const { client: each, held } = party;
      if (held === 0 || each.isAdministrator) continue;
      present += 1;
      if (each.key !== client.key && atLimit === 'refused') ofOthers += firmOf(party);
    }
    const equal = Math.floor(total / Math.max(2, present));
    const left = atLimit === 'refused' ? Math.floor((total - ofOthers) / 2) : equal;
    const share = Math.max(floor, Math.min(equal, left));
    return Math.max(1, Math.floor(share * weightOf(client)));
  }

  /**
   * Returns the party that holds the most for its weight. If several hold equally much, prefers the party given as `asks`. Returns an
   * administrator only if all holders are administrators, because administrators lose nothing to other clients. If only idle claims are
   * revoked, considers only parties that have one.
   */
  #most(asks: Party): Party {
    let most = asks;
    for (const party of this.#parties.values()) {
      if (party.client.isAdministrator || party.held === 0) continue;
      if (this.row.atLimit !== 'yields' && firmOf(party) === party.held) continue;
      if (most.client.isAdministrator || weighed(party) > weighed(most)) most = party;
    }
    return most;
  }

  /**
   * Returns the claim to revoke for the claim `asks`: the oldest idle one, or else the largest. Among equally large claims, selects the newest.
   * Undefined if the resource revokes only idle claims, and none is idle or `asks` displaces none.
   */
  #firstToYield({ claims }: Party, asks: OwnClaim): OwnClaim | undefined {
    let largest: OwnClaim | undefined;
    for (const claim of claims.values()) {
      if (claim.held === 0) continue;
      if (claim !== asks && asks.options.displaces !== false && isIdle(claim)) return claim;
      if (claim.held >= (largest?.held ?? 0)) largest = claim;
    }
    return this.row.atLimit === 'yields' ? largest : undefined;
  }

  #grant(): void {
    for (const [key, queue] of this.#waiting) {
      const [next] = queue;
      if (next === undefined || !this.#mayTake(next.client)) continue;
      queue.shift();
      // Moves the client to the end of the rotation.
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

function isIdle({ options }: OwnClaim): boolean {
  return options.isIdle?.() === true;
}

/** Amount of a party that is not idle. */
function firmOf({ held, claims }: Party): number {
  let idle = 0;
  for (const claim of claims.values()) if (isIdle(claim)) idle += claim.held;
  return held - idle;
}

function isHeld({ number, party }: OwnClaim): boolean {
  return party.claims.has(number);
}

/** All unidentified clients together count as half a client. */
export function weightOf({ key }: ClientIdentity): number {
  return key === UNIDENTIFIED ? 0.5 : 1;
}

function weighed({ client, held }: Party): number {
  return held / weightOf(client);
}
