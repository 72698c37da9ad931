import { TokenBucket } from '@wins/time';

const RATE = { burst: 1_000, perSecond: 1 };
const MOST_SHARES = 16;
/** Time between two reports of counts. */
const COUNTS_MS = 10_000;

/**
 * How much of a ring those events may take that others can cause at will: of each share a thousand at once and then one a second, so that
 * a flood needs hours to push out what else is in the ring. What is beyond is counted, and told every ten seconds.
 */
export class EventShares {
  readonly #nowMs: () => number;
  readonly #shares = new Map<string, TokenBucket>();
  #counted = new Map<string, number>();
  #toldAtMs = -Infinity;

  /** @param nowMs - A clock that does not jump, in milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether an event of this share is written; one that is not is counted. There are 16 shares, the rest has one. */
  takes(share: string): boolean {
    const name = this.#shares.has(share) || this.#shares.size < MOST_SHARES - 1 ? share : 'others';
    const bucket = this.#shares.get(name) ?? new TokenBucket(RATE, this.#nowMs);
    this.#shares.set(name, bucket);
    if (bucket.take()) return true;
    this.#counted.set(name, (this.#counted.get(name) ?? 0) + 1);
    return false;
  }

  /** In how many milliseconds counts may be told; 0 or less: now. */
  get countsInMs(): number {
    return this.#toldAtMs + COUNTS_MS - this.#nowMs();
  }

  /**
   * Takes the counts since the last time, by share; empty when that is less than ten seconds ago.
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
