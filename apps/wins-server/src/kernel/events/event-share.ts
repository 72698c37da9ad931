import { TokenBucket } from '@wins/time';

const RATE = { burst: 1_000, perSecond: 1 };
const MOST_SHARES = 16;
const COUNTS_MS = 10_000;

/**
 * Admits a thousand events of each `share`, then one per second, so that a flood needs hours to displace other events. The rest are counted, and
 * reported every ten seconds.
 */
export class EventShares {
  readonly #nowMs: () => number;
  readonly #shares = new Map<string, TokenBucket>();
  #counted = new Map<string, number>();
  #toldAtMs = -Infinity;

  /** `nowMs` is a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Returns false when the event is only counted. The first 15 values of `share` have a limit each. All later values have one common limit. */
  takes(share: string): boolean {
    const name = this.#shares.has(share) || this.#shares.size < MOST_SHARES - 1 ? share : 'others';
    const bucket = this.#shares.get(name) ?? new TokenBucket(RATE, this.#nowMs);
    this.#shares.set(name, bucket);
    if (bucket.take()) return true;
    this.#counted.set(name, (this.#counted.get(name) ?? 0) + 1);
    return false;
  }

  /** Milliseconds until counts may be reported; 0 or less: now. */
  get countsInMs(): number {
    return this.#toldAtMs + COUNTS_MS - this.#nowMs();
  }

  /** Returns the counts to report. Empty within ten seconds of the last report, unless `isLast`. */
  takeCounted(isLast: boolean): ReadonlyMap<string, number> {
    const counted = this.#counted;
    if (counted.size === 0 || (this.countsInMs > 0 && !isLast)) return new Map();
    this.#counted = new Map();
    this.#toldAtMs = this.#nowMs();
    return counted;
  }
}
