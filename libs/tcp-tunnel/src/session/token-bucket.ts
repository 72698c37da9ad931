/** How often something may be done: so many at once, and so many a second from then on. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** A rate limit. It needs no timer: tokens that came back are counted when it is asked. */
export class TokenBucket {
  readonly #rate: Rate;
  readonly #now: () => number;
  #tokens: number;
  #countedAtMs: number;

  /** @param now - The monotonic clock, in milliseconds. */
  constructor(rate: Rate, now: () => number) {
    this.#rate = rate;
    this.#now = now;
    this.#tokens = rate.burst;
    this.#countedAtMs = now();
  }

  /** Spends one, if there is one. */
  take(): boolean {
    if (this.isEmpty) return false;
    this.#tokens -= 1;
    return true;
  }

  get isEmpty(): boolean {
    return this.#count() < 1;
  }

  /** One that is full knows nothing: it may be forgotten. */
  get isFull(): boolean {
    return this.#count() >= this.#rate.burst;
  }

  #count(): number {
    const { burst, perSecond } = this.#rate;
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#countedAtMs) * perSecond) / 1000);
    this.#countedAtMs = now;
    return this.#tokens;
  }
}
