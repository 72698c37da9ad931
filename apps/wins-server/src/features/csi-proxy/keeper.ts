import { messageOf, toldAddress } from '@wins/base';
import {
  adopt,
  applyPlan,
  describeStep,
  finishOrUndo,
  InstallError,
  pendingRecovery,
  readItems,
  stateIn,
  uninstall,
  type Around,
  type InstallContext,
  type InstallErrorCode,
  type Step,
} from '@wins/installation';
import { backoffMs, Reconciler, systemClock, type Clock } from '@wins/time';
import { distrusted, TrustedFileError, type FileTrust } from '@wins/trusted-files';
import { rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Decision } from '../../kernel/audit/decision.js';
import { FeatureError, isFeatureError } from '../../kernel/feature-error.js';
import { FETCH, REMOVE, RESTORE, SWITCH, TIDY } from './actions.js';
import { CsiProxyError, type CsiProxyErrorCode } from './csi-proxy-error.js';
import type { CsiProxyStatus } from './csi-proxy-facts.js';
import { csiProxyHost, programOf } from './csi-proxy-host.js';
import { readRecord } from './csi-proxy-record.js';
import { INSTALL_FOLDER, RECORD_FILE, type CsiProxyNode } from './csi-proxy-system.js';
import { fetchProgram, type FetchOptions } from './fetch-program.js';
import {
  itemsToRead,
  planCsiProxy,
  planSteps,
  SERVICE,
  type CsiProxyPlan,
  type CsiProxyStep,
  type Release,
} from './plan-csi-proxy.js';
import type { DesiredCsiProxy } from './settings/judge-settings.js';

export interface KeeperOptions extends Pick<FetchOptions, 'downloadFor' | 'onWarning'> {
  /** Absolute path of the folder with the installation record. The folder must be private, and is created if missing. */
  readonly stateFolder: string;
  readonly node: CsiProxyNode;
  readonly trust: FileTrust;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /** Resolves once the action is recorded; a rejection cancels the action. */
  readonly onDecision: (decision: Decision) => Promise<void> | undefined;
  readonly onStatus: (status: CsiProxyStatus) => void;
  /** True: removal covers the csi-proxy of the Go release and its service too. Default: both stay. */
  readonly removesGo?: boolean;
  /** Wraps each change of the node. Default: runs it. */
  readonly around?: Around;
}

const OF_FILES: ReadonlySet<InstallErrorCode> = new Set(['refused', 'unreadable']);
const LOOK_EVERY_MS = 60_000;
/** Grows long, because each try of a program that does not serve interrupts the volumes of the node. */
const RETRY = { initialMs: 30_000, maxMs: 60 * 60_000 };

/** Keeps csi-proxy in the desired state by plans of `@wins/installation`. Each pass starts from the actual state of the node. A failed pass is retried. */
export class Keeper implements AsyncDisposable {
  readonly #options: KeeperOptions & { readonly clock: Clock };
  readonly #context: InstallContext;
  readonly #passes: Reconciler<DesiredCsiProxy | undefined>;
  #status: CsiProxyStatus = { state: 'absent', detail: 'not examined yet' };

  constructor(options: KeeperOptions, desired: DesiredCsiProxy | undefined) {
    const { stateFolder, node, trust, clock = systemClock } = options;
    this.#options = { ...options, clock };
    this.#passes = new Reconciler(desired, {
      clock,
      pass: (wanted, signal) => this.#pass(wanted, signal),
      onFailure: (error, failures) => this.#fail(error, failures),
    });
    this.#context = {
      host: csiProxyHost(node, trust, clock),
      paths: { stateFolder: path.join(stateFolder, INSTALL_FOLDER) },
      signal: this.#passes.closing,
      around: options.around,
    };
    this.#passes.wake();
  }

  get status(): CsiProxyStatus {
    return this.#status;
  }

  /** Contains a download address, which may hold a secret. */
  get desired(): DesiredCsiProxy | undefined {
    return this.#passes.desired;
  }

  /** Changes the desired state; undefined removes the csi-proxy that the daemon installed. Aborts a download in progress. */
  want(desired: DesiredCsiProxy | undefined): void {
    this.#passes.want(desired);
  }

  /** Returns the steps that a pass would take now. @throws FeatureError, InstallError or TrustedFileError if the node cannot be examined. */
  async plan(): Promise<readonly CsiProxyStep[]> {
    const pending = await pendingRecovery(this.#context);
    if (pending === undefined) return planSteps(await this.#plan(this.desired));
    const reason = 'an earlier change was interrupted';
    return pending.steps.map((step) => ({ action: describeStep(step), reason }));
  }

  /** Requests a pass without delay, and resolves with its outcome. @throws FeatureError `closed`; the signal's reason. */
  async apply(signal?: AbortSignal): Promise<CsiProxyStatus> {
    await this.#passes.reconcile({ signal });
    this.#passes.closing.throwIfAborted();
    return this.#status;
  }

  /** Leaves the service running. The next `Keeper` undoes an unfinished change. Idempotent. */
  close(): Promise<void> {
    return this.#passes.close(new FeatureError('closed', 'csi-proxy is no longer managed'));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns the delay until the next pass in milliseconds. */
  async #pass(desired: DesiredCsiProxy | undefined, signal: AbortSignal): Promise<number> {
    try {
      await this.#recover();
      let plan = await this.#plan(desired);
      if (plan.isStarting === true) {
        this.#become('installed', plan.reason);
        await this.#context.host.prove({ signal }).catch(() => undefined);
        plan = await this.#plan(desired);
      }
      if (plan.fetch !== undefined && desired !== undefined)
        plan = await this.#plan(desired, await this.#fetch(desired, plan.fetch.sha256, signal));
      signal.throwIfAborted();
      if (plan.change !== undefined) {
        await this.#change(plan, plan.change);
        plan = await this.#plan(desired);
        if (plan.change !== undefined)
          throw new CsiProxyError('serviceFailed', `csi-proxy does not last: ${plan.reason}`);
      }
      if (plan.removal !== undefined) await this.#remove(plan, plan.removal);
      // Fails while something of ours is left.
      if (desired === undefined) await rmdir(this.#options.stateFolder).catch(() => undefined);
      this.#become(plan.isServing ? 'serving' : 'absent', plan.reason);
      return LOOK_EVERY_MS;
    } catch (error) {
      if (!signal.aborted) throw error;
      return 0;
    }
  }

  /** Undoes what an earlier daemon left unfinished. */
  async #recover(): Promise<void> {
    if ((await pendingRecovery(this.#context))?.outcome === 'undone') await this.#record(RESTORE);
    const recovered = await finishOrUndo(this.#context);
    if (recovered?.outcome === 'undone' && recovered.problem !== undefined)
      this.#options.onWarning(recovered.problem);
  }

  async #plan(desired: DesiredCsiProxy | undefined, fetched?: Release): Promise<CsiProxyPlan> {
    const { stateFolder, trust, node, removesGo = false } = this.#options;
    for (const folder of new Set([stateFolder, desired?.folder ?? stateFolder])) {
      const distrust = trust.distrustOfPrivateFolder(folder);
      if (distrust !== undefined) throw distrusted('keep csi-proxy in', folder, distrust);
    }
    const paths = { record: path.join(stateFolder, RECORD_FILE), goProgram: node.goProgram };
    const record = await readRecord(paths.record, trust);
    const items = await readItems(this.#context, itemsToRead(desired, record, paths, fetched));
    const program = programOf(stateIn(items, SERVICE)?.command);
    const isServing = await node.isServing();
    const facts = { ...items, paths, record, program, isServing, removesGo };
    return planCsiProxy(desired, facts, fetched);
  }

  async #fetch(
    desired: DesiredCsiProxy,
    sha256: string | undefined,
    signal: AbortSignal,
  ): Promise<Release> {
    const { node } = this.#options;
    const { version, url } = desired;
    const checksum = sha256 === undefined ? {} : { checksum: sha256 };
    await this.#record(FETCH, { name: version, address: toldAddress(url), ...checksum });
    this.#become('fetching', version);
    const { programMagic } = node;
    return fetchProgram(desired, sha256, { ...this.#options, programMagic, signal });
  }

  async #change(plan: CsiProxyPlan, change: NonNullable<CsiProxyPlan['change']>): Promise<void> {
    await this.#record(SWITCH, { path: change.program });
    this.#become('verified', change.version);
    await this.#adopt(plan);
    const onStep = ({ item, to }: Step): void => {
      if (item.kind === 'running' && to !== undefined) this.#become('installed', change.version);
    };
    const end = await applyPlan({ ...this.#context, onStep }, change);
    if (end.outcome === 'installed') return;
    for (const step of end.left) this.#options.onWarning(`not undone: ${describeStep(step)}`);
    const { cause } = end;
    const message = `${messageOf(cause)}; what was there before is restored`;
    throw new CsiProxyError(codeOf(cause), message, { cause });
  }

  async #remove(plan: CsiProxyPlan, removal: NonNullable<CsiProxyPlan['removal']>): Promise<void> {
    const { onWarning } = this.#options;
    const isWhole = removal.kept.length === 0;
    await this.#record(isWhole ? REMOVE : TIDY);
    await this.#adopt(plan);
    const { failed } = await uninstall(this.#context, removal);
    const problems = failed.map(({ entry, reason }) => `cannot ${describeStep(entry)}: ${reason}`);
    if (!isWhole) problems.forEach(onWarning);
    else if (problems.length > 0) {
      const isOfFiles = failed.every(({ entry }) => 'path' in entry.item);
      throw new CsiProxyError(isOfFiles ? 'fileFailed' : 'serviceFailed', problems.join('; '));
    }
  }

  async #adopt({ adopted: manifest }: CsiProxyPlan): Promise<void> {
    if (manifest !== undefined) await adopt(this.#context, { kind: 'adopt', manifest });
  }

  /** Records an action before it starts. If the record fails, the action must not start. */
  async #record(
    action: Pick<Decision, 'action' | 'recording'>,
    facts: Pick<Decision, 'path' | 'name' | 'address' | 'checksum'> = {},
  ): Promise<void> {
    const { onDecision } = this.#options;
    await onDecision({ ...action, verdict: 'allowed', requester: 'config', ...facts });
  }

  #fail(error: unknown, failures: number): number {
    const waitMs = backoffMs(RETRY, failures);
    const retryAt = new Date(this.#options.clock.now().getTime() + waitMs).toISOString();
    this.#become('failed', messageOf(error), { code: codeOf(error), failures, retryAt });
    return waitMs;
  }

  #become(
    state: CsiProxyStatus['state'],
    detail: string,
    failure?: CsiProxyStatus['failure'],
  ): void {
    const status = { state, detail, ...(failure !== undefined && { failure }) };
    const isNew = !isDeepStrictEqual(status, this.#status);
    this.#status = status;
    if (isNew) this.#options.onStatus(status);
  }
}

function codeOf(error: unknown): CsiProxyErrorCode {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isFeatureError(at)) return at.code;
    if (at instanceof InstallError && at.code === 'unproven') return 'notServing';
    const isRefusal = at instanceof InstallError && OF_FILES.has(at.code);
    if (isRefusal || at instanceof TrustedFileError || 'errno' in at) return 'fileFailed';
  }
  return 'serviceFailed';
}
