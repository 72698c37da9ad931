import { messageOf, type HostRoutes, type RoutingState } from '@wins/base';
import { Backoff, systemClock, type Clock } from '@wins/time';
import { isDeepStrictEqual } from 'node:util';
import { HostNetworkError } from '../host-network-error.js';
import type { DesiredNetwork } from '../plan/desired-route.js';
import {
  plan,
  stepKeyOf,
  type Owned,
  type PlannedStep,
  type RoutePlan,
  type Standing,
} from '../plan/plan.js';
import type { RouteRecords } from './route-records.js';

/** The host is looked at so often without a cause, because an event can be lost. */
const LOOK_EVERY_MS = 60_000;
/** Changes of routes come in bursts: it is looked once for all that come within this time. */
const GATHER_MS = 1_000;

export interface HostNetworkOptions {
  readonly host: HostRoutes;
  readonly records: RouteRecords;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /** Called before steps are taken; when it rejects, none is. */
  readonly beforeSteps: (steps: readonly PlannedStep[]) => Promise<void>;
  /** Called when the status is another one. */
  readonly onStatus: (status: HostNetworkStatus) => void;
  /** Called with problems that do not prevent routes from being kept. */
  readonly onWarning: (problem: string) => void;
}

/**
 * How the network of the host stands. `settled`: each route is there, or cannot be there now. `partial`: a step has failed. `failed`:
 * the host could not be looked at, or the record not be written.
 */
export interface HostNetworkStatus {
  readonly kind: 'starting' | 'settled' | 'partial' | 'failed';
  readonly standings: readonly Standing[];
  /** Destinations of routes and keys of items that have the mark of wins, and that nothing accounts for. */
  readonly orphans: readonly string[];
  /** Why steps, or all of it, failed. Tried again after 1 s to 5 min, and at each change of routes. */
  readonly problems: readonly string[];
  /** Whether it was taken down by hand, until it is applied again or something else is wanted. */
  readonly isDown: boolean;
}

const NOTHING: DesiredNetwork = { routes: [] };
const STARTING: HostNetworkStatus = {
  ...{ kind: 'starting', standings: [], orphans: [], problems: [], isDown: false },
};

interface Waiting {
  readonly resolve: (status: HostNetworkStatus) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Keeps the routes of this host as they are wanted, until it is closed: it looks, plans, records, acts and looks again, at each change of
 * routes and once a minute. Closing leaves the routes as they are.
 */
export class HostNetwork implements AsyncDisposable {
  readonly #options: HostNetworkOptions;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  readonly #working: Promise<unknown>;
  readonly #backoff = new Backoff({ initialMs: 1_000, maxMs: 300_000 });
  #desired: DesiredNetwork;
  #status = STARTING;
  #isDown = false;
  /** Undefined until it was read. */
  #record: readonly Owned[] | undefined;
  /** Ends the wait between two passes. */
  #wake = new AbortController();
  #isGathering = false;
  #waiting: Waiting[] = [];

  constructor(options: HostNetworkOptions, desired: DesiredNetwork) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#desired = desired;
    this.#working = Promise.all([this.#run(), this.#follow()]);
  }

  get status(): HostNetworkStatus {
    return this.#status;
  }

  /** Whether nothing is wanted, and nothing of ours is left. */
  get isBare(): boolean {
    const { routes, peers = [], own } = this.#desired;
    const isNothing = routes.length === 0 && peers.length === 0 && own === undefined;
    return isNothing && this.#record?.length === 0;
  }

  /**
   * Wants this from now on.
   *
   * @param options - `staysDown`: what was taken down by hand stays so, as nobody has asked for something else.
   */
  want(desired: DesiredNetwork, { staysDown = false } = {}): void {
    if (isDeepStrictEqual(desired, this.#desired)) return;
    this.#desired = desired;
    if (!staysDown) this.#isDown = false;
    this.#wake.abort();
  }

  /**
   * Says what would be done now, and does nothing.
   *
   * @param options - `isDown`: as if it were taken down.
   * @throws what the host throws.
   */
  async plan({ isDown = this.#isDown } = {}): Promise<RoutePlan> {
    this.#throwIfClosed();
    const record = (this.#record ??= await this.#options.records.read());
    return plan(isDown ? NOTHING : this.#desired, await this.#list(record), record);
  }

  /** Looks and acts at once, whatever is waited for. @throws HostNetworkError `closed`; the reason of the signal. */
  apply(signal?: AbortSignal): Promise<HostNetworkStatus> {
    return this.#pass({ isDown: false }, signal);
  }

  /**
   * Removes all routes of ours and keeps none, until it is applied again or other routes are wanted.
   *
   * @throws HostNetworkError `closed`; the reason of the signal.
   */
  teardown(signal?: AbortSignal): Promise<HostNetworkStatus> {
    return this.#pass({ isDown: true }, signal);
  }

  /** Ends the work; the routes stay. A step that was begun is waited for. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#working;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #pass(
    { isDown }: { readonly isDown: boolean },
    signal?: AbortSignal,
  ): Promise<HostNetworkStatus> {
    signal?.throwIfAborted();
    this.#throwIfClosed();
    this.#isDown = isDown;
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      this.#wake.abort();
    });
  }

  async #run(): Promise<void> {
    const { signal: closing } = this.#closing;
    while (!closing.aborted) {
      const waiting = this.#waiting.splice(0);
      this.#wake = new AbortController();
      const waitMs = await this.#look();
      for (const { resolve } of waiting) resolve(this.#status);
      const woken = AbortSignal.any([closing, this.#wake.signal]);
      await this.#clock.wait(waitMs, woken).catch(() => undefined);
    }
    for (const { reject } of this.#waiting.splice(0)) reject(closed());
  }

  /** Has the routes looked at after each change of them. */
  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    const backoff = new Backoff({ initialMs: 1_000, maxMs: LOOK_EVERY_MS });
    let told: string | undefined;
    while (!signal.aborted) {
      try {
        await this.#options.host.watch(() => {
          backoff.reset();
          void this.#gather();
        }, signal);
      } catch (error) {
        const problem = `cannot watch for route changes: ${messageOf(error)}`;
        if (problem !== told) this.#options.onWarning(problem);
        told = problem;
      }
      await backoff.wait(signal, this.#clock).catch(() => undefined);
    }
  }

  async #gather(): Promise<void> {
    if (this.#isGathering) return;
    this.#isGathering = true;
    await this.#clock.wait(GATHER_MS, this.#closing.signal).catch(() => undefined);
    this.#isGathering = false;
    this.#wake.abort();
  }

  /** @returns How long to wait for the next look. Never rejects. */
  async #look(): Promise<number> {
    try {
      const problems: string[] = [];
      const { standings, orphans } = await this.#settle(problems);
      const kind = problems.length === 0 ? 'settled' : 'partial';
      this.#become({
        ...{ kind, standings, orphans, problems, isDown: this.#isDown },
      });
      if (kind === 'partial') return this.#backoff.nextMs();
      this.#backoff.reset();
      return LOOK_EVERY_MS;
    } catch (error) {
      const problems = [messageOf(error)];
      this.#become({ ...this.#status, kind: 'failed', problems, isDown: this.#isDown });
      return this.#backoff.nextMs();
    }
  }

  /** Items are asked for only where some are wanted, or were. */
  #list(record: readonly Owned[]): Promise<RoutingState> {
    const { own } = this.#desired;
    return this.#options.host.list(own !== undefined || record.some((one) => 'item' in one));
  }

  /** Plans and acts until no step is left that was not tried, and gathers why steps failed. */
  async #settle(problems: string[]): Promise<RoutePlan> {
    const { host, records, beforeSteps } = this.#options;
    const isFirst = this.#record === undefined;
    this.#record ??= await records.read();
    const tried = new Map<string, string>();
    for (;;) {
      const desired = this.#isDown ? NOTHING : this.#desired;
      const planned = plan(desired, await this.#list(this.#record), this.#record, { tried });
      // Before the steps, so that a route is ours whatever happens between the call and the next look.
      // A record of an earlier boot reads as none, and goes.
      const isStale = isFirst && planned.record.length === 0;
      if (isStale || !isDeepStrictEqual(planned.record, this.#record))
        await records.write(planned.record);
      this.#record = planned.record;
      if (planned.steps.length === 0 || this.#closing.signal.aborted) {
        for (const { state, destination, detail } of planned.standings)
          if (state === 'failed') problems.push(`${destination}: ${detail}`);
        return planned;
      }
      await beforeSteps(planned.steps);
      const outcomes = await host.change(planned.steps);
      const preceded = new Set<string>();
      for (const [index, step] of planned.steps.entries()) {
        const outcome = outcomes[index];
        const key = stepKeyOf(step);
        const failed = outcome?.kind === 'failed' ? outcome.message : undefined;
        tried.set(
          key,
          failed ?? `it was ${step.op === 'add' ? 'added' : 'removed'} without effect`,
        );
        if (outcome?.kind === 'exists') preceded.add(key);
        if (failed !== undefined && step.op === 'remove')
          problems.push(`${'route' in step ? step.route.destination : step.item.key}: ${failed}`);
      }
      // Somebody else's of the same words is not ours.
      this.#record = this.#record.filter(
        (one) => one.state === 'applied' || !preceded.has(stepKeyOf({ op: 'add', ...one })),
      );
    }
  }

  #become(status: HostNetworkStatus): void {
    const isNew = !isDeepStrictEqual(status, this.#status);
    this.#status = status;
    if (isNew) this.#options.onStatus(status);
  }

  #throwIfClosed(): void {
    if (this.#closing.signal.aborted) throw closed();
  }
}

function closed(): HostNetworkError {
  return new HostNetworkError('closed', 'the network of the host is no longer managed');
}
