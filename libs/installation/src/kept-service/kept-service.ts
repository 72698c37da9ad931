import { messageOf, reporter } from '@wins/base';
import { backoffMs, Reconciler, systemClock, type Clock } from '@wins/time';
import { distrusted, type FileTrust } from '@wins/trusted-files';
import type { Abortable } from 'node:events';
import { rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readItems } from '../facts/read-facts.js';
import { stateIn } from '../facts/node-facts.js';
import type { Around, InstallContext } from '../install-context.js';
import { InstallError } from '../install-error.js';
import { describeStep, type Step } from '../item/step.js';
import { adopt, applyPlan, finishOrUndo, pendingRecovery } from '../run/apply-plan.js';
import { uninstall } from '../run/uninstall.js';
import {
  itemsOfService,
  plannedActions,
  planService,
  type DesiredService,
  type PlannedAction,
  type ServicePlan,
  type ServiceRelease,
} from './plan-service.js';
import { serviceHost } from './service-host.js';
import type { KeptServiceKind, ServiceNode } from './service-node.js';
import { readPins } from './service-record.js';
import { INSTALL_FOLDER, RECORD_FILE, type ServiceStatus } from './service-status.js';

/**
 * A change of the node: the service gets another program, an unfinished change is undone, unused releases are removed, or the service
 * is uninstalled.
 */
export interface ServiceChange {
  readonly kind: 'switch' | 'restore' | 'tidy' | 'remove';
  /** The other program, of a switch. */
  readonly program?: string | undefined;
}

/** Parts and callbacks of a {@link KeptService}. */
export interface KeptServiceOptions<Desired extends DesiredService, Code extends string> {
  readonly kind: KeptServiceKind;
  readonly node: ServiceNode;
  /** Absolute path of the folder with the installation record. The folder must be private, and is created if missing. */
  readonly stateFolder: string;
  readonly trust: FileTrust;
  /** Default: `systemClock`. */
  readonly clock?: Clock | undefined;
  /** Downloads and verifies a release. Without `sha256`, the server's certificate authenticates it. */
  readonly fetch: (
    desired: Desired,
    sha256: string | undefined,
    signal: AbortSignal,
  ) => Promise<ServiceRelease>;
  /** Called before each change. If its promise rejects, the change is not made. */
  readonly beforeChange: (change: ServiceChange) => Promise<void>;
  readonly onStatus: (status: ServiceStatus<Code>) => unknown;
  readonly onWarning: (message: string) => unknown;
  /** Code of a failed pass, in its status. */
  readonly codeOf: (error: unknown) => Code;
  /** True: removal covers the service of another installer too. Default: that service stays. */
  readonly removesAdopted?: boolean | undefined;
  /** Wraps each change of the node. Default: runs it. */
  readonly around?: Around | undefined;
}

const LOOK_EVERY_MS = 60_000;
/** Grows long, because each try of a program that does not serve interrupts the work of the node. */
const RETRY = { initialMs: 30_000, maxMs: 60 * 60_000 };

/** Keeps a service in the desired state. Each pass starts from the actual state of the node. A failed pass is undone and retried. */
export class KeptService<
  Desired extends DesiredService,
  Code extends string,
> implements AsyncDisposable {
  readonly #options: KeptServiceOptions<Desired, Code> & { readonly clock: Clock };
  readonly #context: InstallContext;
  readonly #passes: Reconciler<Desired | undefined>;
  #status: ServiceStatus<Code> = { state: 'absent', detail: 'not examined yet' };

  constructor(options: KeptServiceOptions<Desired, Code>, desired: Desired | undefined) {
    const { kind, stateFolder, node, trust, clock = systemClock } = options;
    this.#options = {
      ...options,
      clock,
      onStatus: reporter(options.onStatus),
      onWarning: reporter(options.onWarning),
    };
    this.#passes = new Reconciler(desired, {
      clock,
      pass: (wanted, signal) => this.#pass(wanted, signal),
      onFailure: (error, failures) => this.#fail(error, failures),
    });
    this.#context = {
      host: serviceHost(node, kind, trust, clock),
      paths: { stateFolder: path.join(stateFolder, INSTALL_FOLDER) },
      signal: this.#passes.closing,
      around: options.around,
    };
    this.#passes.wake();
  }

  get status(): ServiceStatus<Code> {
    return this.#status;
  }

  get desired(): Desired | undefined {
    return this.#passes.desired;
  }

  /** Changes the desired state; undefined removes the service if it was installed here. Aborts a download in progress. */
  want(desired: Desired | undefined): void {
    this.#passes.want(desired);
  }

  /** Returns the actions that a pass would take now. @throws InstallError or TrustedFileError if the node cannot be examined. */
  async plan(): Promise<readonly PlannedAction[]> {
    const pending = await pendingRecovery(this.#context);
    if (pending === undefined) return plannedActions(await this.#plan(this.desired));
    const reason = 'an earlier change is unfinished';
    return pending.steps.map((step) => ({ action: describeStep(step), reason }));
  }

  /** Requests a pass without delay, and resolves with its outcome. @throws The reason of the signal, or of `close`. */
  async apply({ signal }: Abortable = {}): Promise<ServiceStatus<Code>> {
    await this.#passes.reconcile({ signal });
    this.#passes.closing.throwIfAborted();
    return this.#status;
  }

  /** Leaves the service running. A later `KeptService` undoes an unfinished change. Idempotent. */
  close(reason?: Error): Promise<void> {
    return this.#passes.close(reason);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns the delay until the next pass in milliseconds. */
  async #pass(desired: Desired | undefined, signal: AbortSignal): Promise<number> {
    const { kind, fetch, stateFolder } = this.#options;
    try {
      await this.#recover();
      let plan = await this.#plan(desired);
      if (plan.isStarting === true) {
        this.#become('installed', plan.reason);
        await this.#context.host.prove({ signal }).catch(() => undefined);
        plan = await this.#plan(desired);
      }
      if (plan.fetch !== undefined && desired !== undefined) {
        this.#become('fetching', desired.version);
        plan = await this.#plan(desired, await fetch(desired, plan.fetch.sha256, signal));
      }
      signal.throwIfAborted();
      if (plan.change !== undefined) {
        await this.#change(plan, plan.change);
        plan = await this.#plan(desired);
        if (plan.change !== undefined)
          throw new InstallError('stepFailed', `${kind.subject} does not last: ${plan.reason}`);
      }
      if (plan.removal !== undefined) await this.#remove(plan, plan.removal);
      // Fails while something of ours is left.
      if (desired === undefined) await rmdir(stateFolder).catch(() => undefined);
      this.#become(plan.isServing ? 'serving' : 'absent', plan.reason);
      return LOOK_EVERY_MS;
    } catch (error) {
      if (!signal.aborted) throw error;
      return 0;
    }
  }

  /** Undoes what an earlier process left unfinished. */
  async #recover(): Promise<void> {
    const { beforeChange, onWarning } = this.#options;
    if ((await pendingRecovery(this.#context))?.outcome === 'undone')
      await beforeChange({ kind: 'restore' });
    const recovered = await finishOrUndo(this.#context);
    if (recovered?.outcome === 'undone' && recovered.problem !== undefined)
      onWarning(recovered.problem);
  }

  async #plan(desired: Desired | undefined, fetched?: ServiceRelease): Promise<ServicePlan> {
    const { kind, stateFolder, trust, node, removesAdopted = false } = this.#options;
    for (const folder of new Set([stateFolder, desired?.folder ?? stateFolder])) {
      const distrust = trust.distrustOfPrivateFolder(folder);
      if (distrust !== undefined) throw distrusted(`keep ${kind.subject} in`, folder, distrust);
    }
    const record = path.join(stateFolder, RECORD_FILE);
    const { adoptedProgram } = node;
    const pins = await readPins(record, kind.subject, trust);
    const own = { kind, adoptedProgram, record, pins };
    const items = await readItems(this.#context, itemsOfService(desired, own, fetched));
    const program = kind.programOf(stateIn(items, kind.item)?.command ?? '');
    const isServing = await node.isServing();
    return planService(desired, { ...items, ...own, program, isServing, removesAdopted }, fetched);
  }

  async #change(plan: ServicePlan, change: NonNullable<ServicePlan['change']>): Promise<void> {
    const { beforeChange, onWarning } = this.#options;
    await beforeChange({ kind: 'switch', program: change.program });
    this.#become('verified', change.version);
    await this.#adopt(plan);
    const onStep = ({ item, to }: Step): void => {
      if (item.kind === 'running' && to !== undefined) this.#become('installed', change.version);
    };
    const end = await applyPlan({ ...this.#context, onStep }, change);
    if (end.outcome === 'installed') return;
    for (const step of end.left) onWarning(`not undone: ${describeStep(step)}`);
    const { cause } = end;
    const message = `${messageOf(cause)}; what was there before is restored`;
    throw new InstallError(cause.code, message, { cause });
  }

  async #remove(plan: ServicePlan, removal: NonNullable<ServicePlan['removal']>): Promise<void> {
    const { beforeChange, onWarning } = this.#options;
    const isWhole = removal.kept.length === 0;
    await beforeChange({ kind: isWhole ? 'remove' : 'tidy' });
    await this.#adopt(plan);
    const { failed } = await uninstall(this.#context, removal);
    const problems = failed.map(({ entry, reason }) => `cannot ${describeStep(entry)}: ${reason}`);
    if (!isWhole) problems.forEach((problem) => onWarning(problem));
    else if (problems.length > 0) {
      const isOfFiles = failed.every(({ entry }) => 'path' in entry.item);
      throw new InstallError(isOfFiles ? 'refused' : 'stepFailed', problems.join('; '));
    }
  }

  async #adopt({ adopted: manifest }: ServicePlan): Promise<void> {
    if (manifest !== undefined) await adopt(this.#context, { kind: 'adopt', manifest });
  }

  #fail(error: unknown, failures: number): number {
    const waitMs = backoffMs(RETRY, failures);
    const { clock, codeOf } = this.#options;
    const retryAt = new Date(clock.now().getTime() + waitMs).toISOString();
    this.#become('failed', messageOf(error), { code: codeOf(error), failures, retryAt });
    return waitMs;
  }

  #become(
    state: ServiceStatus['state'],
    detail: string,
    failure?: ServiceStatus<Code>['failure'],
  ): void {
    const status = { state, detail, failure };
    const isNew = !isDeepStrictEqual(status, this.#status);
    this.#status = status;
    if (isNew) this.#options.onStatus(status);
  }
}
