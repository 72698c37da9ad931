/** Milliseconds of the processor that a client may use per second while others are served. */
const MS_PER_SECOND = 500;
/** What a client that was quiet may use at once. */
const BURST_MS = 1000;
/** A client owes no more than this, so a wait is never longer than 2 s. */
const MOST_DEBT_MS = 1000;

/** The processor time that one client has left. Times are milliseconds of one clock that only goes forward. */
export class ProcessorAccount {
  #balanceMs = BURST_MS;
  #filledAt: number;

  constructor(now: number) {
    this.#filledAt = now;
  }

  /** Takes what a piece of work has used. */
  charge(now: number, usedMs: number): void {
    this.#fill(now);
    this.#balanceMs = Math.max(-MOST_DEBT_MS, this.#balanceMs - usedMs);
  }

  /** How long until the balance is positive; 0 when it is. At most 2,002 ms. */
  waitMs(now: number): number {
    this.#fill(now);
    return this.#balanceMs > 0 ? 0 : Math.ceil(-this.#balanceMs / (MS_PER_SECOND / 1000)) + 1;
  }

  /** How long until nothing of it is used: then a new account is the same. */
  restMs(now: number): number {
    this.#fill(now);
    return Math.ceil((BURST_MS - this.#balanceMs) / (MS_PER_SECOND / 1000));
  }

  #fill(now: number): void {
    const gained = ((now - this.#filledAt) / 1000) * MS_PER_SECOND;
    this.#balanceMs = Math.min(BURST_MS, this.#balanceMs + gained);
    this.#filledAt = now;
  }
}
