import { TokenBucket, type Rate } from '@wins/time';
import { positiveInteger } from './session-settings.js';

/** Bounds on Connects. */
export interface ConnectLimitsOptions {
  /** Failed Connects at once. Default 50. */
  readonly burst?: number;
  /** Failed Connects a second from then on. Default 20. */
  readonly perSecond?: number;
  /** The monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

/**
 * Limits of what Connects cost a server, whatever its peers send. Failed Connects, those that are refused and those whose dial fails, are
 * limited by a rate; Connects that succeed are not.
 */
export interface ConnectLimits {
  /** The share of one peer, which all of its sessions have together. */
  of(peer: string): PeerConnects;
}

/** The share of one peer. */
export interface PeerConnects {
  /** Counts a refusal; false when there were too many, so that it shall cost little. */
  refuse(): boolean;
  /** Whether a port may be dialled: not while dials to it fail more often than the rate. */
  mayDial(port: number): boolean;
  /** Counts a dial that failed. */
  fail(port: number): void;
}

/** Begins a dial, which says `done` when it is over; what is returned gives it up. */
export type BeginDial = (done: () => void) => () => void;

/** Rates that are kept at a time; all others share one. */
const MOST_BUCKETS = 4096;

/**
 * Limits for all sessions that are given a share of them. They hold nothing of a peer once its rate is full again.
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
