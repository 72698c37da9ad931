import { messageOf, reporter } from '@wins/base';
import { Backoff, systemClock, type Clock } from '@wins/time';
import { isDeepStrictEqual } from 'node:util';
import type { DesiredPeer } from '../plan/judge-peers.js';
import type { Gathered } from './element-list.js';
import { ShrinkGuard } from './shrink-guard.js';

/** All items of a source at one time: peers, or published ports. */
export interface Snapshot<Item = DesiredPeer> extends Gathered<Item> {
  readonly version: string;
}

/** Receives what a {@link Feed} reports. */
export interface FeedListener<Item = DesiredPeer> {
  /** Resolves with 0 for an accepted snapshot, else with the milliseconds until it should be read again. */
  readonly onSnapshot: (snapshot: Snapshot<Item>) => Promise<number>;
  /** The source answers. */
  readonly onContact: () => unknown;
  /** A problem that the feed handles itself, by trying again; empty when it is over. */
  readonly onProblem: (problem: string) => unknown;
}

/** A feed of the other hosts, or of the published ports of this host's containers. */
export interface Feed<Item = DesiredPeer> {
  /** Reports each snapshot until the signal aborts. The caller calls it again after a failure, with growing delays. */
  follow(listener: FeedListener<Item>, options: { readonly signal: AbortSignal }): Promise<void>;
}

/**
 * `starting`: no data since the start. `current`: in contact. `stale`: failing; the last data stays in use. `degraded`: failing
 * for 2 minutes or more.
 */
export type SourceState = 'starting' | 'current' | 'stale' | 'degraded';

/** The snapshot in use, and how current it is. Times are in milliseconds. */
export interface SourceStatus<Item = DesiredPeer> extends Snapshot<Item> {
  readonly state: SourceState;
  /** Time since the last contact; undefined before the first. */
  readonly ageMs: number | undefined;
  /** Time since the start of the source. */
  readonly sinceMs: number;
  /** Whether the latest snapshot lacks most items and is not accepted yet. */
  readonly isDoubted: boolean;
  /** Why the source fails now; empty if it does not. */
  readonly problem: string;
}

/** Stores the last items for the next start. */
export interface LastGood<Item = DesiredPeer> {
  /** Undefined when there are none, or only items of another source. */
  read(): Promise<readonly Item[] | undefined>;
  write(items: readonly Item[]): Promise<void>;
}

/** Options of a {@link Source}. */
export interface SourceOptions<Item = DesiredPeer> {
  readonly feed: Feed<Item>;
  /** Default: data from before the start is not used. */
  readonly lastGood?: LastGood<Item> | undefined;
  /** Default: `systemClock`. */
  readonly clock?: Clock | undefined;
  /** From 0 to less than 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  readonly onChange: () => unknown;
  readonly onWarning: (problem: string) => unknown;
}

const DEGRADED_AFTER_MS = 120_000;
/** About 1, 2, 4 … 60 s: `jitter` shortens each by up to a third. */
const RETRIES = { initialMs: 1_200, maxMs: 72_000, jitter: 1 / 3 };
const NOTHING: Snapshot<never> = {
  version: '',
  items: [],
  skipped: [],
  skippedCount: 0,
  isLimited: false,
};

/** Keeps the last good snapshot of a feed through all failures. */
export class Source<Item extends object = DesiredPeer> implements AsyncDisposable {
  readonly #options: SourceOptions<Item>;
  readonly #clock: Clock;
  readonly #guard = new ShrinkGuard<Item>();
  readonly #closing = new AbortController();
  readonly #backoff: Backoff;
  readonly #startMs: number;
  readonly #working: Promise<void>;
  #snapshot: Snapshot<Item> = NOTHING;
  /** Undefined until this source has stored items. */
  #stored: readonly Item[] | undefined;
  #contactMs: number | undefined;
  #isDoubted = false;
  #hasSpoken = false;
  /** Why the feed ended. */
  #failure = '';
  /** A problem that the feed handles itself. */
  #handled = '';
  #told: unknown;

  constructor(options: SourceOptions<Item>) {
    this.#options = {
      ...options,
      onChange: reporter(options.onChange),
      onWarning: reporter(options.onWarning),
    };
    const { clock = systemClock, random = Math.random } = options;
    this.#clock = clock;
    this.#backoff = new Backoff({ ...RETRIES, random });
    this.#startMs = this.#nowMs;
    this.#working = this.#run();
  }

  /**
   * True once a snapshot from the feed has been accepted. Until then, the items come from `lastGood`. The caller may keep
   * routes because of these items, but must not remove routes because of them.
   */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  get status(): SourceStatus<Item> {
    const contactMs = this.#contactMs;
    const ageMs = contactMs === undefined ? undefined : this.#nowMs - contactMs;
    return {
      ...this.#snapshot,
      state: this.#state,
      ageMs,
      sinceMs: this.#nowMs - this.#startMs,
      isDoubted: this.#isDoubted,
      problem: this.#problem,
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#working;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #nowMs(): number {
    return Math.round(this.#clock.monotonicMs());
  }

  get #state(): SourceState {
    const isLong = this.#nowMs - (this.#contactMs ?? this.#startMs) >= DEGRADED_AFTER_MS;
    if (this.#problem !== '') return isLong ? 'degraded' : 'stale';
    return this.#hasSpoken ? 'current' : 'starting';
  }

  get #problem(): string {
    return this.#failure || this.#handled;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const { feed, lastGood } = this.#options;
    const items = await lastGood?.read().catch((error: unknown) => this.#warn('read', error));
    if (items !== undefined) this.#snapshot = { ...NOTHING, items };
    const listener: FeedListener<Item> = {
      onSnapshot: (snapshot) => this.#judge(snapshot),
      onContact: () => this.#touch(),
      onProblem: (problem) => {
        this.#handled = problem;
        this.#tell();
      },
    };
    this.#tell();
    while (!signal.aborted) {
      try {
        await feed.follow(listener, { signal });
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        this.#failure = messageOf(error);
        this.#tell();
        await this.#backoff.wait({ signal, clock: this.#clock }).catch(() => undefined);
      }
    }
  }

  async #judge(snapshot: Snapshot<Item>): Promise<number> {
    const againMs = this.#guard.judge(this.#snapshot.items, snapshot.items, this.#nowMs);
    this.#isDoubted = againMs > 0;
    if (againMs === 0) {
      if (!isDeepStrictEqual(snapshot.items, this.#stored)) await this.#store(snapshot.items);
      this.#snapshot = snapshot;
      this.#hasSpoken = true;
    }
    this.#touch();
    return againMs;
  }

  async #store(items: readonly Item[]): Promise<void> {
    try {
      await this.#options.lastGood?.write(items);
      this.#stored = items;
    } catch (error) {
      this.#warn('write', error);
    }
  }

  #touch(): void {
    this.#contactMs = this.#nowMs;
    this.#failure = '';
    this.#backoff.reset();
    this.#tell();
  }

  #tell(): void {
    const { items, isLimited } = this.#snapshot;
    const now = [items, isLimited, this.#state, this.#isDoubted, this.#problem, this.#hasSpoken];
    if (isDeepStrictEqual(now, this.#told)) return;
    this.#told = now;
    this.#options.onChange();
  }

  #warn(action: string, error: unknown): undefined {
    this.#options.onWarning(`cannot ${action} the last good peers: ${messageOf(error)}`);
  }
}
