import { TokenBucket, type Rate } from '@wins/time';

/** Rate-limits failed Connects, both refusals and failed dials. Successful ones are not limited. */
export interface ConnectLimits {
  /** Returns the limits of one peer, shared by all its sessions. */
  of(peer: string): PeerConnects;
}

/** Rate limits of one peer's failed Connects, which all its sessions share. */
export interface PeerConnects {
  /** Counts a refusal. Returns false above the rate; the caller then handles the refusal cheaply. */
  refuse(): boolean;
  /** False while failed dials to the port exceed the rate. */
  mayDial(port: number): boolean;
  /** Counts a failed dial to the port. */
  fail(port: number): void;
}

/** Starts a dial, which calls `done` at its end; the returned function cancels the dial. */
export type BeginDial = (done: () => void) => () => void;

/** Maximum number of separate buckets. Further peers and ports share one bucket. */
const MOST_BUCKETS = 4096;

const FAILED_CONNECTS: Rate = { burst: 50, perSecond: 20 };

/**
 * Creates limits that several sessions may share: of failed Connects, a burst of 50, then 20 per second.
 *
 * @param rate - Specs lower the rate.
 * @param now - The monotonic clock, in milliseconds.
 */
export function createConnectLimits(
  rate: Rate = FAILED_CONNECTS,
  now = () => performance.now(),
): ConnectLimits {
  const buckets = new Buckets(rate, now);
  return {
    of: (peer) => ({
      refuse: () => buckets.get(peer).take(),
      mayDial: (port) => !buckets.get(`${port} ${peer}`).isEmpty,
      fail: (port) => void buckets.get(`${port} ${peer}`).take(),
    }),
  };
}

class Buckets {
  readonly #rate: Rate;
  readonly #now: () => number;
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #others: TokenBucket;

  constructor(rate: Rate, now: () => number) {
    this.#rate = rate;
    this.#now = now;
    this.#others = new TokenBucket(rate, now);
  }

  get(key: string): TokenBucket {
    const known = this.#buckets.get(key);
    if (known !== undefined) return known;
    if (this.#buckets.size >= MOST_BUCKETS) this.#forgetFull();
    if (this.#buckets.size >= MOST_BUCKETS) return this.#others;
    const bucket = new TokenBucket(this.#rate, this.#now);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #forgetFull(): void {
    for (const [key, bucket] of this.#buckets) if (bucket.isFull) this.#buckets.delete(key);
  }
}
