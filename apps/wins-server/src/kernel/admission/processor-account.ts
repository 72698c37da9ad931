import { TokenBucket } from '@wins/time';

/** Milliseconds of the processor: a second at once for a client that was quiet, and half of one per second while others are served. */
const RATE = { burst: 1_000, perSecond: 500 };
/** A client owes no more than this, so a wait is never longer than 2 s. */
const MOST_DEBT_MS = 1000;

/** The processor time that one client has left. */
export class ProcessorAccount {
  readonly #leftMs: TokenBucket;

  /** @param nowMs - A clock that never goes back, in milliseconds. */
  constructor(nowMs: () => number) {
    this.#leftMs = new TokenBucket(RATE, nowMs);
  }

  /** How long until the balance is positive; 0 when it is. At most 2,001 ms. */
  get waitMs(): number {
    return this.#leftMs.tokens > 0 ? 0 : this.#leftMs.msUntil(0) + 1;
  }

  /** How long until nothing of it is used: then a new account is the same. */
  get restMs(): number {
    return this.#leftMs.msUntil(RATE.burst);
  }

  /** Takes what a piece of work has used. */
  charge(usedMs: number): void {
    this.#leftMs.charge(usedMs, MOST_DEBT_MS);
  }
}
