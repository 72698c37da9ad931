export interface Rate {
  /** Tokens of a full bucket, its maximum. */
  readonly burst: number;
  /** Tokens added each second. */
  readonly perSecond: number;
}

/** Token bucket. It needs no timer: each call adds the tokens due since the last one. */
export class TokenBucket {
  readonly #rate: Rate;
  readonly #nowMs: () => number;
  #tokens: number;
  #countedAtMs: number;

  /** @param nowMs - A monotonic clock, in milliseconds. Default: `performance.now`. */
  constructor(rate: Rate, nowMs: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#nowMs = nowMs;
    this.#tokens = rate.burst;
    this.#countedAtMs = nowMs();
  }

  /** Current tokens, fractions included; below 0 while tokens are owed. */
  get tokens(): number {
    const { burst, perSecond } = this.#rate;
    const nowMs = this.#nowMs();
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#countedAtMs) / 1000) * perSecond);
    this.#countedAtMs = nowMs;
    return this.#tokens;
  }

  /** True when less than one token is left. */
  get isEmpty(): boolean {
    return this.tokens < 1;
  }

  /** True when the bucket is as full as a new one, so that it may be discarded. */
  get isFull(): boolean {
    return this.tokens >= this.#rate.burst;
  }

  /** Takes `count` tokens, by default one, and returns true; takes none and returns false when fewer are left. */
  take(count = 1): boolean {
    if (this.tokens < count) return false;
    this.#tokens -= count;
    return true;
  }

  /** Takes `count` tokens for work already done. Missing tokens become a debt of at most `mostOwed` tokens. */
  charge(count: number, mostOwed: number): void {
    this.#tokens = Math.max(-mostOwed, this.tokens - count);
  }

  /** Returns `count` tokens to the bucket, up to the burst. */
  give(count: number): void {
    this.#tokens = Math.min(this.#rate.burst, this.tokens + count);
  }

  /** Returns the milliseconds until `count` tokens are available if none is taken; 0 when they are available now. */
  msUntil(count: number): number {
    return Math.ceil((Math.max(0, count - this.tokens) / this.#rate.perSecond) * 1000);
  }
}
