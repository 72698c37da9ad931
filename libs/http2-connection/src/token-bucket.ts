/** How much of something is allowed. */
export interface Rate {
  /** At once. */
  readonly burst: number;
  /** In the long run. */
  readonly perSecond: number;
}

/** Allows so much at once, and so much a second in the long run. */
export class TokenBucket {
  #tokens: number;
  #filledAt = performance.now();

  readonly #rate: Rate;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#tokens = rate.burst;
  }

  /** Whether there were so many tokens; takes them if so. */
  take(count = 1): boolean {
    if (this.#tokens < count) this.#fill();
    if (this.#tokens < count) return false;
    this.#tokens -= count;
    return true;
  }

  /** Adds tokens for what we did to deserve an answer. */
  give(count: number): void {
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + count);
  }

  #fill(): void {
    const now = performance.now();
    this.give(((now - this.#filledAt) / 1000) * this.#rate.perSecond);
    this.#filledAt = now;
  }
}
