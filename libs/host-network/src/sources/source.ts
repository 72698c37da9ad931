import { messageOf } from '@wins/base';
import { Backoff, systemClock, type Clock } from '@wins/time';
import { isDeepStrictEqual } from 'node:util';
import type { DesiredPeer } from '../plan/judge-peers.js';
import type { Gathered } from './element-list.js';
import { ShrinkGuard } from './shrink-guard.js';

/** All that a source has at one time: peers, or published ports. */
export interface Snapshot<Item = DesiredPeer> extends Gathered<Item> {
  /** Names the snapshot for its source. */
  readonly version: string;
}

export interface FeedListener<Item = DesiredPeer> {
  /** Resolves with 0, or after how many milliseconds the snapshot is to be read again before it is believed. */
  readonly onSnapshot: (snapshot: Snapshot<Item>) => Promise<number>;
  /** The source has said that nothing has changed. */
  readonly onContact: () => void;
}

/** Somebody who knows the other hosts, or the containers of this one. */
export interface Feed<Item = DesiredPeer> {
  /** Tells of each snapshot until it fails or the signal aborts. An end without an error is no failure: it is followed again. */
  follow(listener: FeedListener<Item>, signal: AbortSignal): Promise<void>;
}

/**
 * How a source stands. `starting`: it has told nothing since this start. `current`: it was in touch just now. `stale`: it fails, and
 * what it told last is kept. `degraded`: so for 2 minutes or more.
 */
export type SourceState = 'starting' | 'current' | 'stale' | 'degraded';

export interface SourceStatus<Item = DesiredPeer> extends Snapshot<Item> {
  readonly state: SourceState;
  /** Milliseconds since it was in touch last; undefined before the first time. */
  readonly ageMs: number | undefined;
  /** Milliseconds since it began. */
  readonly sinceMs: number;
  /** Whether most of them are gone by its latest snapshot, which is not believed yet. */
  readonly isDoubted: boolean;
  /** Why it fails; empty when it does not. */
  readonly problem: string;
}

/** The last items that a source told, for the next start. */
export interface LastGood<Item = DesiredPeer> {
  /** Resolves with undefined when there are none, or those of another source. */
  read(): Promise<readonly Item[] | undefined>;
  write(items: readonly Item[]): Promise<void>;
}

export interface SourceOptions<Item = DesiredPeer> {
  readonly feed: Feed<Item>;
  /** Absent: nothing that was told before this start counts. */
  readonly lastGood?: LastGood<Item>;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /** From 0 to less than 1. Default: `Math.random`. */
  readonly random?: () => number;
  /** Called when its items or its state are others. */
  readonly onChange: () => void;
  readonly onWarning: (problem: string) => void;
}

const DEGRADED_AFTER_MS = 120_000;
/** 1, 2, 4 … 60 s, each up to a fifth longer or shorter. */
const RETRIES = { initialMs: 1_200, maxMs: 72_000, jitter: 1 / 3 };
const NOTHING: Snapshot<never> = {
  ...{ version: '', items: [], skipped: [], skippedCount: 0, isLimited: false },
};

/** Keeps the last good snapshot of a feed, whatever happens to it, until it is closed. */
export class Source<Item extends object = DesiredPeer> implements AsyncDisposable {
  readonly #options: SourceOptions<Item>;
  readonly #clock: Clock;
  readonly #guard = new ShrinkGuard<Item>();
  readonly #closing = new AbortController();
  readonly #backoff: Backoff;
  readonly #startMs: number;
  readonly #working: Promise<void>;
  #snapshot: Snapshot<Item> = NOTHING;
  #contactMs: number | undefined;
  #isDoubted = false;
  #hasSpoken = false;
  #problem = '';
  #told: unknown;

  constructor(options: SourceOptions<Item>) {
    this.#options = options;
    const { clock = systemClock, random } = options;
    this.#clock = clock;
    this.#backoff = new Backoff({ ...RETRIES, ...(random && { random }) });
    this.#startMs = this.#nowMs;
    this.#working = this.#run();
  }

  /** Whether its items are what it told since this start: until then they say what to keep, and not what to remove. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  get status(): SourceStatus<Item> {
    const contactMs = this.#contactMs;
    const ageMs = contactMs === undefined ? undefined : Math.max(0, this.#nowMs - contactMs);
    return {
      ...this.#snapshot,
      ...{ state: this.#state, ageMs, sinceMs: this.#nowMs - this.#startMs },
      ...{ isDoubted: this.#isDoubted, problem: this.#problem },
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
    return this.#clock.now().getTime();
  }

  get #state(): SourceState {
    const isLong = this.#nowMs - (this.#contactMs ?? this.#startMs) >= DEGRADED_AFTER_MS;
    if (this.#problem !== '') return isLong ? 'degraded' : 'stale';
    return this.#hasSpoken ? 'current' : 'starting';
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const { feed, lastGood } = this.#options;
    const items = await lastGood?.read().catch((error: unknown) => this.#warn('read', error));
    if (items !== undefined) this.#snapshot = { ...NOTHING, items };
    const listener: FeedListener<Item> = {
      onSnapshot: (snapshot) => this.#judge(snapshot),
      onContact: () => this.#touch(),
    };
    this.#tell();
    while (!signal.aborted) {
      try {
        await feed.follow(listener, signal);
      } catch (error) {
        if (isAborted(signal)) return;
        this.#problem = messageOf(error);
        this.#tell();
        await this.#backoff.wait(signal, this.#clock).catch(() => undefined);
      }
    }
  }

  async #judge(snapshot: Snapshot<Item>): Promise<number> {
    const againMs = this.#guard.judge(this.#snapshot.items, snapshot.items, this.#nowMs);
    this.#isDoubted = againMs > 0;
    if (againMs === 0) {
      const isNew = !isDeepStrictEqual(snapshot.items, this.#snapshot.items);
      if (isNew || !this.#hasSpoken)
        await this.#options.lastGood
          ?.write(snapshot.items)
          .catch((error: unknown) => this.#warn('write', error));
      this.#snapshot = snapshot;
      this.#hasSpoken = true;
    }
    this.#touch();
    return againMs;
  }

  #touch(): void {
    this.#contactMs = this.#nowMs;
    this.#problem = '';
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

  #warn(act: string, error: unknown): undefined {
    this.#options.onWarning(`cannot ${act} the last good peers: ${messageOf(error)}`);
  }
}

// By a call, so that the compiler does not take it for constant across an await.
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
