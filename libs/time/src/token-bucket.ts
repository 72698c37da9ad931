/** How often something may be done, or how much of something may be used. */
export interface Rate {
  /** Tokens of a bucket that was left alone; it never has more. */
  readonly burst: number;
  /** Tokens that come back each second. */
  readonly perSecond: number;
}

/** A limit of a rate. It needs no timer: tokens that came back are counted when it is asked. */
export class TokenBucket {
  readonly #rate: Rate;
  readonly #nowMs: () => number;
  #tokens: number;
  #countedAtMs: number;

  /** @param nowMs - A clock that never goes back, in milliseconds. Default: `performance.now`. */
  constructor(rate: Rate, nowMs: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#nowMs = nowMs;
    this.#tokens = rate.burst;
    this.#countedAtMs = nowMs();
  }

  /** The tokens at this moment, fractions included; below 0 while some are owed. */
  get tokens(): number {
    const { burst, perSecond } = this.#rate;
    const nowMs = this.#nowMs();
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#countedAtMs) / 1000) * perSecond);
    this.#countedAtMs = nowMs;
    return this.#tokens;
  }

  /** True when no single token is left. */
  get isEmpty(): boolean {
    return this.tokens < 1;
  }

  /** True when a new bucket is the same, so that this one may be forgotten. */
  get isFull(): boolean {
    return this.tokens >= this.#rate.burst;
  }

  /** Takes `count` tokens, by default one, and returns true; returns false and takes none when there are fewer. */
  take(count = 1): boolean {
    if (this.tokens < count) return false;
    this.#tokens -= count;
    return true;
  }

  /** Takes `count` tokens that were used already. What is missing is owed, `mostOwed` tokens at most. */
  charge(count: number, mostOwed: number): void {
    this.#tokens = Math.max(-mostOwed, this.tokens - count);
  }

  /** Gives `count` tokens back, up to the burst. */
  give(count: number): void {
    this.#tokens = Math.min(this.#rate.burst, this.tokens + count);
  }

  /** Returns after how many milliseconds there are `count` tokens if none is taken; 0 when there are. */
  msUntil(count: number): number {
    return Math.ceil((Math.max(0, count - this.tokens) / this.#rate.perSecond) * 1000);
  }
}
