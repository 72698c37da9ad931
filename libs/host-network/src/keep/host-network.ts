import type { Abortable } from 'node:events';
import { messageOf, reporter, type HostRoutes, type RoutingState } from '@wins/base';
import { Backoff, Reconciler, systemClock, type Clock } from '@wins/time';
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

/** Time between two checks of the host when no event comes. These checks are needed because an event can be lost. */
const LOOK_EVERY_MS = 60_000;
/** Route changes come in bursts. One check covers all changes within this time. */
const GATHER_MS = 1_000;

/** Access to the host and callbacks of a {@link HostNetwork}. */
export interface HostNetworkOptions {
  readonly host: HostRoutes;
  readonly records: RouteRecords;
  /** Default: `systemClock`. */
  readonly clock?: Clock | undefined;
  /** Called before the steps of a plan. If its promise rejects, no step is taken. */
  readonly beforeSteps: (steps: readonly PlannedStep[]) => Promise<void>;
  readonly onStatus: (status: HostNetworkStatus) => unknown;
  /** Problems that do not prevent the management of routes. */
  readonly onWarning: (problem: string) => unknown;
}

/**
 * `settled`: each route exists, or cannot exist now. `partial`: a step failed. `failed`: the host could not be inspected, or the
 * record could not be written.
 */
export interface HostNetworkStatus {
  readonly kind: 'starting' | 'settled' | 'partial' | 'failed';
  readonly standings: readonly Standing[];
  /** Same as in {@link RoutePlan}. */
  readonly orphans: readonly string[];
  /** Why steps, or the whole pass, failed. The daemon retries after 1 s to 5 min, and on each change of routes. */
  readonly problems: readonly string[];
  /** Whether a teardown is in force. `apply` ends the teardown. `want` also ends it, unless `staysDown` is set. */
  readonly isDown: boolean;
}

const NOTHING: DesiredNetwork = { routes: [] };

/**
 * Maintains the desired network of this host. On each change of routes, and once a minute, it inspects the host, plans, writes
 * the record and makes changes. Closing leaves the routes in place.
 */
export class HostNetwork implements AsyncDisposable {
  readonly #options: HostNetworkOptions;
  readonly #clock: Clock;
  readonly #passes: Reconciler<DesiredNetwork>;
  readonly #following: Promise<void>;
  /** Not reset by other desired routes, because the routes that fail may be the same. */
  readonly #backoff = new Backoff({ initialMs: 1_000, maxMs: 300_000 });
  #status: HostNetworkStatus = {
    kind: 'starting',
    standings: [],
    orphans: [],
    problems: [],
    isDown: false,
  };
  #isDown = false;
  /** Undefined until read. */
  #record: readonly Owned[] | undefined;
  /** The record on the disk; undefined until this daemon has written it. */
  #stored: readonly Owned[] | undefined;
  #isGathering = false;

  constructor(options: HostNetworkOptions, desired: DesiredNetwork) {
    this.#options = {
      ...options,
      onStatus: reporter(options.onStatus),
      onWarning: reporter(options.onWarning),
    };
    this.#clock = options.clock ?? systemClock;
    this.#passes = new Reconciler(desired, {
      clock: this.#clock,
      pass: () => this.#pass(),
      onFailure: (error) => this.#fail(error),
    });
    this.#passes.wake();
    this.#following = this.#follow();
  }

  get status(): HostNetworkStatus {
    return this.#status;
  }

  /** Whether nothing is desired and the record is empty. */
  get isBare(): boolean {
    const { routes, peers = [], own } = this.#passes.desired;
    const isNothing = routes.length === 0 && peers.length === 0 && own === undefined;
    return isNothing && this.#record?.length === 0;
  }

  /** @param options - `staysDown`: true for a change that no user requested. A manual teardown then stays in force. By default the teardown ends. */
  want(desired: DesiredNetwork, { staysDown = false } = {}): void {
    if (isDeepStrictEqual(desired, this.#passes.desired)) return;
    if (!staysDown) this.#isDown = false;
    this.#passes.want(desired);
  }

  /**
   * Returns the present plan without carrying it out.
   *
   * @param options - `isDown`: plan as if the network were torn down.
   * @throws errors of the host, including a failure to list the requested items.
   */
  async plan({ isDown = this.#isDown } = {}): Promise<RoutePlan> {
    this.#passes.closing.throwIfAborted();
    const record = this.#record ?? (await this.#options.records.read());
    const actual = await this.#list(record);
    if (actual.itemsError !== undefined) throw actual.itemsError as Error;
    return plan(isDown ? NOTHING : this.#passes.desired, actual, record);
  }

  /** Runs a pass at once. @throws HostNetworkError `closed`, `aborted`. */
  apply({ signal }: Abortable = {}): Promise<HostNetworkStatus> {
    return this.#apply(false, signal);
  }

  /**
   * Removes everything the daemon made, and adds nothing until `apply` or `want` ends the teardown.
   *
   * @throws HostNetworkError `closed`, `aborted`.
   */
  teardown({ signal }: Abortable = {}): Promise<HostNetworkStatus> {
    return this.#apply(true, signal);
  }

  /** Stops after the current step; the routes stay. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.#passes.close(closed()), this.#following]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #apply(isDown: boolean, signal?: AbortSignal): Promise<HostNetworkStatus> {
    if (signal?.aborted === true) throw aborted(signal.reason);
    this.#passes.closing.throwIfAborted();
    this.#isDown = isDown;
    await this.#passes.reconcile({ signal }).catch((error: unknown) => {
      throw signal?.aborted === true && error === signal.reason ? aborted(error) : error;
    });
    return this.#status;
  }

  async #follow(): Promise<void> {
    const { closing } = this.#passes;
    const backoff = new Backoff({ initialMs: 1_000, maxMs: LOOK_EVERY_MS });
    let told: string | undefined;
    while (!closing.aborted) {
      try {
        await this.#options.host.watch(
          () => {
            backoff.reset();
            told = undefined;
            void this.#gather();
          },
          { signal: closing },
        );
      } catch (error) {
        const problem = `cannot watch for route changes: ${messageOf(error)}`;
        if (problem !== told) this.#options.onWarning(problem);
        told = problem;
      }
      await backoff.wait({ signal: closing, clock: this.#clock }).catch(() => undefined);
    }
  }

  async #gather(): Promise<void> {
    if (this.#isGathering) return;
    this.#isGathering = true;
    await this.#clock.wait(GATHER_MS, { signal: this.#passes.closing }).catch(() => undefined);
    this.#isGathering = false;
    this.#passes.wake();
  }

  /** Returns the delay until the next pass in milliseconds. */
  async #pass(): Promise<number> {
    const problems: string[] = [];
    const { standings, orphans } = await this.#settle(problems);
    const kind = problems.length === 0 ? 'settled' : 'partial';
    this.#become({ kind, standings, orphans, problems, isDown: this.#isDown });
    if (kind === 'partial') return this.#backoff.nextMs();
    this.#backoff.reset();
    return LOOK_EVERY_MS;
  }

  #fail(error: unknown): number {
    const problems = [messageOf(error)];
    this.#become({ ...this.#status, kind: 'failed', problems, isDown: this.#isDown });
    return this.#backoff.nextMs();
  }

  /** Requests items only if some are desired or recorded. */
  #list(record: readonly Owned[]): Promise<RoutingState> {
    const { own } = this.#passes.desired;
    return this.#options.host.list(own !== undefined || record.some((one) => 'item' in one));
  }

  /** Makes changes until every step was tried. */
  async #settle(problems: string[]): Promise<RoutePlan> {
    const { host, records, beforeSteps } = this.#options;
    this.#record ??= await records.read();
    const tried = new Map<string, string>();
    for (;;) {
      const desired = this.#isDown ? NOTHING : this.#passes.desired;
      const planned = plan(desired, await this.#list(this.#record), this.#record, { tried });
      // Write the record before the steps, so that it survives a crash during a step. Writing an empty record removes its file.
      // The first pass always writes, because the file may be from before a reboot. For such a file, `read` returns an empty list.
      if (!isDeepStrictEqual(planned.record, this.#stored)) await records.write(planned.record);
      this.#record = this.#stored = planned.record;
      if (planned.steps.length === 0 || this.#passes.closing.aborted) {
        for (const { state, destination, detail } of planned.standings)
          if (state === 'failed') problems.push(`${destination}: ${detail}`);
        for (const one of planned.record) {
          const outcome = tried.get(stepKeyOf({ op: 'remove', ...one }));
          const name = 'route' in one ? one.route.destination : one.item.key;
          if (outcome !== undefined) problems.push(`${name}: ${outcome}`);
        }
        return planned;
      }
      await beforeSteps(planned.steps);
      const outcomes = await host.change(planned.steps);
      const preceded = new Set<string>();
      for (const [index, step] of planned.steps.entries()) {
        const outcome = outcomes[index];
        const key = stepKeyOf(step);
        const done = step.op === 'add' ? 'added' : 'removed';
        const isFailed = outcome?.kind === 'failed';
        tried.set(key, isFailed ? outcome.message : `it was ${done} without effect`);
        if (outcome?.kind === 'exists') preceded.add(key);
      }
      // Remove from the record each addition that already existed, because another program owns it.
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
}

function aborted(cause: unknown): HostNetworkError {
  return new HostNetworkError('aborted', 'cannot await a pass: it was aborted', { cause });
}

function closed(): HostNetworkError {
  return new HostNetworkError('closed', 'the network of the host is no longer managed');
}
