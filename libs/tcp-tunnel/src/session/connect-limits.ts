import { TokenBucket, type Rate } from '@wins/time';
import { positiveInteger } from '../stream/session-settings.js';

export interface ConnectLimitsOptions {
  /** Maximum burst of failed Connects. Default 50. */
  readonly burst?: number;
  /** Maximum failed Connects per second after a burst. Default 20. */
  readonly perSecond?: number;
  /** The monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

/** Rate-limits failed Connects, both refusals and failed dials. Successful ones are not limited. */
export interface ConnectLimits {
  /** Returns the limits of one peer, shared by all its sessions. */
  of(peer: string): PeerConnects;
}

export interface PeerConnects {
  /** Counts a refusal. Returns false above the rate; the caller then handles the refusal cheaply. */
  refuse(): boolean;
  /** False while failed dials to the port exceed the rate. */
  mayDial(port: number): boolean;
  fail(port: number): void;
}

/** Starts a dial, which calls `done` at its end; the returned function cancels the dial. */
export type BeginDial = (done: () => void) => () => void;

/** Maximum number of separate buckets. Further peers and ports share one bucket. */
const MOST_BUCKETS = 4096;

/**
 * Creates limits that several sessions may share.
 *
 * @throws {TunnelError} `invalidOption`.
 */
export function createConnectLimits(options: ConnectLimitsOptions = {}): ConnectLimits {
  const rate = {
    burst: positiveInteger('burst', options.burst ?? 50),
    perSecond: positiveInteger('perSecond', options.perSecond ?? 20),
  };
  const buckets = new Buckets(rate, options.now ?? (() => performance.now()));
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
