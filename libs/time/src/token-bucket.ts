/** Rate limit of a {@link TokenBucket}. */
export interface Rate {
  /** Tokens of a full bucket. */
  readonly burst: number;
  readonly perSecond: number;
}

/** Token bucket without a timer: each call adds the tokens due since the last call. */
export class TokenBucket {
  readonly #rate: Rate;
  readonly #nowMs: () => number;
  #tokens: number;
  #countedAtMs: number;

  /** @param nowMs - Monotonic clock in milliseconds. Default: `performance.now`. */
  constructor(rate: Rate, nowMs: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#nowMs = nowMs;
    this.#tokens = rate.burst;
    this.#countedAtMs = nowMs();
  }

  /** May be a fraction; negative after a `charge` without enough tokens. */
  get tokens(): number {
    const { burst, perSecond } = this.#rate;
    const nowMs = this.#nowMs();
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#countedAtMs) / 1000) * perSecond);
    this.#countedAtMs = nowMs;
    return this.#tokens;
  }

  get isEmpty(): boolean {
    return this.tokens < 1;
  }

  /** True when the bucket is as full as a new one, so that the owner may discard it. */
  get isFull(): boolean {
    return this.tokens >= this.#rate.burst;
  }

  /** Takes `count` tokens and returns true. If fewer are left, takes none and returns false. */
  take(count = 1): boolean {
    if (this.tokens < count) return false;
    this.#tokens -= count;
    return true;
  }

  /** Takes tokens for work already done. Missing tokens become a debt of at most `mostOwed`. */
  charge(count: number, mostOwed: number): void {
    this.#tokens = Math.max(-mostOwed, this.tokens - count);
  }

  /** Returns tokens to the bucket, up to `burst`. */
  give(count: number): void {
    this.#tokens = Math.min(this.#rate.burst, this.tokens + count);
  }

  /** Milliseconds until `count` tokens are available, if no other caller takes any. */
  msUntil(count: number): number {
    return Math.ceil((Math.max(0, count - this.tokens) / this.#rate.perSecond) * 1000);
  }
}
