const BURST = 1_000;
const PER_MINUTE = 60;
const MINUTE_MS = 60_000;
const MOST_SHARES = 16;
/** Between two times at which counts are told. */
const COUNTS_MS = 10_000;

/**
 * How much of a ring those events may take that others can cause at will: of each share a thousand at once and then one a second, so that
 * a flood needs hours to push out what else is in the ring. What is beyond is counted, and told every ten seconds.
 */
export class EventShares {
  readonly #nowMs: () => number;
  readonly #left = new Map<string, { tokens: number; atMs: number }>();
  #counted = new Map<string, number>();
  #toldAtMs = -Infinity;

  /** @param nowMs - A clock that does not jump, in milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether an event of this share is written; one that is not is counted. There are 16 shares, the rest has one. */
  takes(share: string): boolean {
    const name = this.#left.has(share) || this.#left.size < MOST_SHARES - 1 ? share : 'others';
    const nowMs = this.#nowMs();
    const left = this.#left.get(name) ?? { tokens: BURST, atMs: nowMs };
    left.tokens = Math.min(BURST, left.tokens + ((nowMs - left.atMs) * PER_MINUTE) / MINUTE_MS);
    left.atMs = nowMs;
    this.#left.set(name, left);
    if (left.tokens >= 1) {
      left.tokens -= 1;
      return true;
    }
    this.#counted.set(name, (this.#counted.get(name) ?? 0) + 1);
    return false;
  }

  /** In how many milliseconds counts may be told; 0 or less: now. */
  get countsInMs(): number {
    return this.#toldAtMs + COUNTS_MS - this.#nowMs();
  }

  /**
   * What was counted since the last time, by share; nothing when that is less than ten seconds ago.
   *
   * @param isLast - Whenever that was.
   */
  takeCounted(isLast: boolean): ReadonlyMap<string, number> {
    const counted = this.#counted;
    if (counted.size === 0 || (this.countsInMs > 0 && !isLast)) return new Map();
    this.#counted = new Map();
    this.#toldAtMs = this.#nowMs();
    return counted;
  }
}
