// This file is longer than most, because reading, watching and failing change the same few facts: the version, and what failed since it was known.
import { isNetError, NetError, type HttpAnswer } from '@wins/net';
import { AgentError } from '../agent-error.js';
import type { Clock, StartTimer, WatchState } from '../ports.js';
import type { ApiConnection } from './api-connection.js';
import { followDelayMs, type FollowPatience } from './follow-delay.js';
import { readJsonLines } from './response-body.js';
import { objectOf, unusable } from './secret-object.js';

/** A collection of objects of an API server, and the patience with which it is followed. */
export interface FollowedObjects extends FollowPatience {
  /** Names the objects in messages, such as `the Secret`. */
  readonly what: string;
  readonly kind: 'Secret' | 'Node';
  /** Path of the collection below the server's address. */
  readonly path: string;
  /** Query of each list and watch. */
  readonly query?: Readonly<Record<string, string>>;
  /** Objects in a page of a list. Default: all in one page. */
  readonly pageSize?: number;
  /** Maximum number of objects. A read that finds more fails, so that a server cannot fill the memory. */
  readonly maxObjects: number;
  /**
   * True: one request reads the objects and watches them (`sendInitialEvents`); a server without support for that gets a
   * list request. False: always lists.
   */
  readonly streams: boolean;
  /** Minimum duration of a watch in seconds. The maximum is twice as long, so that a fleet does not reconnect at once. */
  readonly watchS: number;
  /** Silence, in milliseconds, after which the objects are read anew. A server sends a bookmark about each minute. */
  readonly quietMs: number;
}

/** Kinds of events in a watch of the Kubernetes API. */
export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** Receives the objects of a Kubernetes list and their changes. */
export interface FollowListener<Item> {
  /** Reads an object as soon as it arrives, so that a large object is not kept. @throws AgentError `refused`. */
  readonly read: (object: unknown) => Item;
  /** Called whenever the server sends something. */
  readonly onContact: () => unknown;
  /** All objects, read without a version: they are the truth, even if their version is older than the known one. */
  readonly onAll: (items: readonly Item[], version: string) => unknown;
  readonly onChange: (type: ChangeType, item: Item) => unknown;
  readonly onState: (state: WatchState) => unknown;
}

type Told = Pick<FollowListener<never>, 'onState'>;

export interface FollowOptions {
  readonly connection: Pick<ApiConnection, 'ask' | 'failure' | 'open' | 'refusal'>;
  /** Clock for the waits between connections. */
  readonly clock: Clock;
  /** From 0 to less than 1. */
  readonly random: () => number;
  /** Time-out for an answer, and for the end of a first read. */
  readonly answerMs: number;
  /** Starts a timer for silence and for the duration of a watch. Default: `setTimeout`. */
  readonly startTimer?: StartTimer | undefined;
}

/** A watch of this duration lives: it ends a series of failures. */
const LIVING_MS = 30_000;
/** Time-out for the answer after silence, because the connection may be broken, and somebody may wait for a change. */
const HASTY_MS = 10_000;
/** Share of its requested duration after which the end of a watch is no loss. */
const DUE = 0.9;
/** At 50 objects a page, enough for twice the 5,000 nodes that Kubernetes supports. */
const MAX_PAGES = 200;
/** Types of events that show an object. Others may come with later releases of Kubernetes, and are skipped. */
const KINDS: ReadonlySet<string> = new Set(['BOOKMARK', 'ADDED', 'MODIFIED', 'DELETED']);
/** NetError codes of requests that did not reach the server. */
const NOT_REACHED: ReadonlySet<string> = new Set(['nameResolution', 'proxyFailed', 'unreachable']);

/**
 * Follows the objects of a collection: reads them, then watches for changes, like client-go's reflector.
 *
 * - A watch that ends at its time: the next one begins at once.
 * - Silence: the objects are read anew at once, because a dropped connection looks like an idle one.
 * - A version that the server has forgotten, or that is newer than the server's own (it was restored from a backup): the objects
 *   are read anew at once.
 * - Any other end: {@link followDelayMs} says when the next connection begins. Only a watch that lives for 30 s ends a series of
 *   failures.
 */
export class ObjectFollower {
  readonly #objects: FollowedObjects;
  readonly #options: FollowOptions;
  readonly #startTimer: StartTimer;
  /** Version from which to continue. Undefined: read the objects anew. */
  #version: string | undefined;
  /** Failed watches since the last read, or since a watch that lived. */
  #lostWatches = 0;
  /** Failed watches since a watch that lived, although the objects could be read. */
  #brokenWatches = 0;
  /** Waits since then. */
  #waitedMs = 0;
  /** Failures since the last watch that lived. */
  #failures = 0;
  /** Whether to read by a list request. */
  #lists: boolean;
  /** Whether the latest connection still has to read the objects. */
  #isReading = true;
  /** Whether the server has begun to answer the latest watch. */
  #isOpen = false;
  #isHasty = false;
  #wasReached = false;
  #isConnected = false;

  constructor(objects: FollowedObjects, options: FollowOptions) {
    this.#objects = objects;
    this.#options = options;
    this.#startTimer = options.startTimer ?? setTimeout;
    this.#lists = !objects.streams;
  }

  /**
   * Reads the objects and follows them. Resolves when the signal aborts. A later call continues the delays of earlier failures.
   */
  async run<Item>(listener: FollowListener<Item>, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    this.#version = undefined;
    while (!isAborted(signal)) {
      const error = await this.#connect(listener, signal);
      if (isAborted(signal) || error === undefined) continue;
      this.#isConnected = false;
      const isReached = hasReached(error);
      const failure = {
        failures: this.#failures,
        isReached,
        wasReached: this.#wasReached,
        mustRead: !this.#hasVersion,
        retryAfterMs: error.retryAfterMs ?? 0,
      };
      this.#wasReached ||= isReached;
      const waitMs = followDelayMs(failure, this.#objects, random());
      const retryAt = new Date(clock.now().getTime() + waitMs);
      listener.onState({ kind: 'waiting', error, retryAt });
      await clock.wait(waitMs, { signal }).catch((reason: unknown) => {
        if (!isAborted(signal)) throw reason;
      });
      this.#waitedMs += waitMs;
    }
  }

  get #mustRead(): boolean {
    const { resumes, againMs } = this.#objects;
    const isLong = this.#lostWatches >= resumes || this.#waitedMs >= resumes * againMs[0];
    return !this.#hasVersion || isLong;
  }

  get #hasVersion(): boolean {
    return this.#version !== undefined;
  }

  get #what(): string {
    return `watch ${this.#objects.what}`;
  }

  /** Returns undefined if the next connection may begin at once. */
  async #connect<Item>(
    listener: FollowListener<Item>,
    signal: AbortSignal,
  ): Promise<AgentError | undefined> {
    const { connection, answerMs } = this.#options;
    this.#isReading = this.#mustRead;
    const isResumed = !this.#isReading;
    this.#isOpen = false;
    const limitMs = this.#isHasty ? Math.min(HASTY_MS, answerMs) : answerMs;
    const late = new AbortController();
    const isTimed = this.#isReading && (this.#isHasty || !this.#lists);
    const limit = isTimed ? this.#startTimer(() => late.abort(), limitMs) : undefined;
    this.#isHasty = false;
    try {
      const until = AbortSignal.any([signal, late.signal]);
      if (this.#isReading && this.#lists) {
        await this.#list(listener, until);
        limit?.close();
      }
      const answer = await connection.open(this.#watchRequest(), until);
      await this.#follow(answer, listener, () => limit?.close());
      return undefined;
    } catch (error) {
      const message = `cannot ${this.#what}: no whole answer within ${limitMs} ms`;
      const failure = isAborted(late.signal)
        ? new AgentError('unreachable', message, { cause: error })
        : connection.failure(error, this.#what, signal);
      return this.#failed(failure, isResumed);
    } finally {
      limit?.close();
    }
  }

  /** @param isResumed - Whether the connection continued at a known version. */
  #failed(error: AgentError, isResumed: boolean): AgentError | undefined {
    const { code, retryAfterMs } = error;
    if (!this.#isReading) {
      this.#lostWatches += 1;
      this.#brokenWatches += 1;
      if (code === 'expired') this.#version = undefined;
      // After an outage, the server may have lost the history. If it refuses even the version just read, do not ask at once.
      if (code === 'expired' && isResumed) return undefined;
    } else {
      this.#lostWatches = this.#waitedMs = 0;
      if (this.#objects.streams && hasReached(error)) {
        const isOfAccount = code === 'unauthorized' || code === 'forbidden';
        this.#lists = !this.#lists && !isOfAccount;
        const isAnswered = code !== 'unreachable' || this.#isOpen;
        if (this.#lists && isAnswered && retryAfterMs === undefined) return undefined;
      }
    }
    this.#failures += 1;
    return error;
  }

  async #list<Item>(listener: FollowListener<Item>, signal: AbortSignal): Promise<void> {
    const { connection } = this.#options;
    const { kind: wanted, pageSize, path, query, what } = this.#objects;
    const all: Item[] = [];
    let next: unknown;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const parameters = new URLSearchParams({
        ...query,
        ...(pageSize !== undefined && { limit: String(pageSize) }),
        ...(typeof next === 'string' && { continue: next }),
      });
      const request = {
        method: 'GET',
        path: `${path}?${parameters.toString()}`,
        what: `list ${what}`,
      } as const;
      const { kind, metadata, items } = objectOf(await connection.ask(request, signal));
      if (kind !== `${wanted}List`) throw unusable(`found no ${wanted}List`);
      const found = Array.isArray(items) ? (items as unknown[]) : [];
      this.#checkCount(all.length + found.length);
      for (const item of found) all.push(listener.read(item));
      const facts = objectOf(metadata);
      next = facts['continue'];
      if (next !== undefined && next !== '') continue;
      this.#isRead(all, versionOf(facts), listener);
      return;
    }
    throw unusable(`found more than ${MAX_PAGES} pages`);
  }

  #isRead<Item>(items: readonly Item[], version: string, { onAll }: FollowListener<Item>): void {
    // First, because a delivery that fails is repeated.
    onAll(items, version);
    this.#isReading = false;
    this.#wasReached = true;
    this.#lostWatches = this.#waitedMs = 0;
    this.#version = version;
  }

  #watchRequest() {
    const { path, query, watchS } = this.#objects;
    const parameters = new URLSearchParams({
      allowWatchBookmarks: 'true',
      ...query,
      ...(this.#isReading || this.#version === undefined
        ? { resourceVersionMatch: 'NotOlderThan', sendInitialEvents: 'true' }
        : { resourceVersion: this.#version }),
      timeoutSeconds: String(Math.floor(watchS * (1 + this.#options.random()))),
      watch: 'true',
    });
    return { method: 'GET' as const, path: `${path}?${parameters.toString()}`, what: this.#what };
  }

  /** Resolves if the next connection may begin at once. */
  async #follow<Item>(
    answer: HttpAnswer,
    listener: FollowListener<Item>,
    onRead: () => void,
  ): Promise<void> {
    const { quietMs, watchS } = this.#objects;
    this.#isOpen = true;
    const ended = { isDue: false, isSilent: false };
    const silence = this.#startTimer(() => {
      ended.isSilent = true;
      answer.end(
        new NetError('timedOut', `cannot ${this.#what}: nothing arrived for ${quietMs} ms`),
      );
    }, quietMs);
    const startLife = () => this.#startTimer(() => this.#lives(listener), LIVING_MS);
    let life = this.#isReading ? undefined : startLife();
    const due = this.#startTimer(() => (ended.isDue = true), DUE * watchS * 1000);
    // Otherwise, each watch that ends at once would count as connected for a moment.
    if (!this.#isReading && this.#brokenWatches < 2) this.#connected(listener);
    const initial = new Map<unknown, Item>();
    const onBytes = (): void => {
      listener.onContact();
      silence.refresh();
      if (!this.#isReading) this.#connected(listener);
    };
    try {
      for await (const event of readJsonLines(answer.body({ maxBytes: Infinity }), onBytes)) {
        const { type, object } = objectOf(event);
        if (type === 'ERROR') throw this.#refusal(object);
        if (typeof type !== 'string' || !KINDS.has(type)) continue;
        const metadata = objectOf(objectOf(object)['metadata']);
        if (type === 'BOOKMARK') {
          if (!this.#isReading) this.#advance(versionOf(metadata));
          else if (endsInitialEvents(metadata)) {
            onRead();
            this.#isRead([...initial.values()], versionOf(metadata), listener);
            initial.clear();
            this.#connected(listener);
            life = startLife();
          }
        } else {
          const item = listener.read(object);
          if (!this.#isReading) {
            listener.onChange(type as ChangeType, item);
            this.#advance(versionOf(metadata));
          } else if (type === 'DELETED') initial.delete(metadata['name']);
          else {
            initial.set(metadata['name'], item);
            this.#checkCount(initial.size);
          }
        }
      }
    } catch (error) {
      if (!ended.isSilent) throw error;
    } finally {
      silence.close();
      life?.close();
      due.close();
      answer.close();
    }
    if (ended.isSilent && !this.#isReading) {
      this.#version = undefined;
      this.#isHasty = true;
      return;
    }
    if (ended.isDue && !this.#isReading) return;
    const found = ended.isSilent ? 'nothing arrived' : 'the API server ended it early';
    throw new AgentError('unreachable', `cannot ${this.#what}: ${found}`);
  }

  /** @throws AgentError `refused`. */
  #checkCount(count: number): void {
    const { maxObjects, what } = this.#objects;
    if (count > maxObjects)
      throw unusable(`found ${count} objects or more; wanted at most ${maxObjects} for ${what}`);
  }

  #refusal(status: unknown): AgentError {
    const { code } = objectOf(status);
    return this.#options.connection.refusal(
      this.#what,
      typeof code === 'number' ? code : 500,
      status,
    );
  }

  /** @throws AgentError `expired` for a version older than the known one. */
  #advance(version: string): void {
    if (this.#version !== undefined && isOlderVersion(version, this.#version)) {
      const found = 'the API server went back to an older version';
      throw new AgentError('expired', `cannot ${this.#what}: ${found}`);
    }
    this.#version = version;
  }

  #lives(listener: Told): void {
    this.#failures = this.#brokenWatches = 0;
    this.#lostWatches = this.#waitedMs = 0;
    this.#connected(listener);
  }

  #connected({ onState }: Told): void {
    if (this.#isConnected) return;
    this.#isConnected = true;
    onState({ kind: 'connected' });
  }
}

function hasReached({ cause }: AgentError): boolean {
  return !isNetError(cause) || !NOT_REACHED.has(cause.code);
}

const NUMBER = /^\d{1,20}$/;

/** Versions are opaque, but those of Kubernetes are numbers that increase. False for others. */
export function isOlderVersion(version: string, known: string): boolean {
  return NUMBER.test(version) && NUMBER.test(known) && BigInt(version) < BigInt(known);
}

function endsInitialEvents({ annotations }: Readonly<Record<string, unknown>>): boolean {
  return annotations !== undefined && objectOf(annotations)['k8s.io/initial-events-end'] === 'true';
}

function versionOf({ resourceVersion }: Readonly<Record<string, unknown>>): string {
  if (typeof resourceVersion === 'string' && resourceVersion !== '') return resourceVersion;
  throw unusable('found no resourceVersion');
}

// This is a function, because the compiler would assume that the property stays the same across an await.
const isAborted = (signal: AbortSignal): boolean => signal.aborted;
