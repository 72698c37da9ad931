import type { ExposedPort } from '@wins/base';
import { setMaxListeners, type Abortable } from 'node:events';
import type { EntryName } from '../policy/executable-policy.js';
import { fileTexts, verdictOf, type DecisionRecord } from './decision-record.js';
import type {
  ExitReason,
  Lease,
  Lifetime,
  ManagedProcess,
  PortsOutcome,
  ProcessExit,
  ProcessOwner,
  ProcessState,
  RunFigures,
  RunLimits,
  RunSelection,
  StopSelection,
} from './managed-process.js';
import { KeepAliveLease } from './keep-alive-lease.js';
import type { CompleteOptions } from '../manager-options.js';
import type { OutputReader } from '../output/output-log.js';
import type { RunFile } from '../policy/run-files.js';
import { asProcessError, ProcessError } from '../process-error.js';
import type { RunFolder } from '../staging/run-folder.js';
import { markOf } from './run-mark.js';
import type { SupervisedTree } from './supervised-tree.js';

const VERBS: Readonly<Record<DecisionRecord['action'], string>> = {
  start: 'start',
  wait: 'follow',
  keepAlive: 'keep alive',
  stop: 'stop',
  updateFile: 'change a file of',
};

export interface Supervision extends Pick<CompleteOptions, 'onDecision' | 'onEvent'> {
  readonly leaseTimeoutMs: number;
  readonly run: Pick<
    ManagedProcess,
    | ('name' | 'runId' | 'mark' | 'path' | 'entry' | 'stagedPath')
    | ('sha256' | 'owner' | 'exposes' | 'ports' | 'limits' | 'lifetime')
  >;
  /** True for an adopted run. If it has a lease, its client must connect again. Default false. */
  readonly isAdopted?: boolean;
  readonly tree: SupervisedTree;
  /** Removed when the run ends. */
  readonly folder?: RunFolder | undefined;
  readonly onEnded: (run: SupervisedRun, exit: ProcessExit, figures: RunFigures) => void;
  /** Called when the lease is released. An ended run may then be forgotten. */
  readonly onReleased: (run: SupervisedRun) => void;
}

/** A run for its clients: who may read and stop it, how long it is kept, and the clean-up at its end. */
export class SupervisedRun implements ManagedProcess {
  readonly name: string;
  readonly mark: string;
  readonly path: string;
  readonly entry: EntryName;
  readonly stagedPath: string;
  readonly sha256: string;
  readonly exposes: readonly ExposedPort[];
  readonly ports: PortsOutcome | undefined;
  readonly limits: RunLimits | undefined;
  readonly lifetime: Lifetime;
  readonly pid: number;
  readonly startedAtMs: number;
  readonly ended: Promise<ProcessExit>;
  readonly #supervision: Supervision;
  readonly #tree: SupervisedTree;
  readonly #lease: KeepAliveLease;
  #runId: string;
  #owner: ProcessOwner;
  #awaitsOwner: boolean;
  #exit: ProcessExit | undefined;

  constructor(supervision: Supervision) {
    const { run, tree, isAdopted = false } = supervision;
    this.name = run.name;
    this.#runId = run.runId;
    this.mark = run.mark;
    this.path = run.path;
    this.entry = run.entry;
    this.stagedPath = run.stagedPath;
    this.sha256 = run.sha256;
    this.#owner = run.owner;
    this.#awaitsOwner = isAdopted && run.lifetime === 'lease';
    this.exposes = run.exposes;
    this.ports = run.ports;
    this.limits = run.limits;
    this.lifetime = run.lifetime;
    this.pid = tree.pid;
    this.startedAtMs = tree.startedAtMs;
    this.#supervision = supervision;
    this.#tree = tree;
    this.#lease = new KeepAliveLease(supervision.leaseTimeoutMs, () => {
      if (tree.state.kind !== 'running') return false;
      tree.end('leaseNeverHeld');
      return true;
    });
    if (run.lifetime === 'detached') this.#lease.claim();
    this.ended = tree.ended.then((exit) => this.#finish(exit));
    this.#endWithOwner();
  }

  get runId(): string {
    return this.#runId;
  }

  get owner(): ProcessOwner {
    return this.#owner;
  }

  get state(): ProcessState {
    if (this.#exit !== undefined) return { kind: 'ended', exit: this.#exit };
    const { state } = this.#tree;
    return state.kind === 'ended' ? { kind: 'draining', reason: state.exit.reason } : state;
  }

  get released(): boolean {
    return this.#lease.state === 'released';
  }

  holdLease(ownerId: string): Lease {
    this.#authorise('keepAlive', ownerId, ownerId === this.owner.id);
    const { mark } = this;
    if (this.#lease.state !== 'unclaimed') {
      const message = `cannot keep ${this.name} alive: its lease is ${this.#lease.state}`;
      const error = new ProcessError('leaseHeld', message, { mark });
      this.#auditAtOnce('keepAlive', ownerId, error);
      throw error;
    }
    // Record the lease first: if that throws, the lease stays free for the next call.
    this.#auditAtOnce('keepAlive', ownerId);
    this.#lease.claim();
    const release = (): Promise<ProcessExit> => {
      if (this.#lease.release()) {
        void this.end('leaseEnded');
        this.#supervision.onReleased(this);
      }
      return this.ended;
    };
    return {
      release,
      [Symbol.asyncDispose]: async () => {
        await release();
      },
    };
  }

  giveTo(owner: ProcessOwner, runId: string): void {
    if (!this.#awaitsOwner || markOf(runId) !== this.mark) return;
    this.#awaitsOwner = false;
    this.#owner = owner;
    this.#runId = runId;
    this.#endWithOwner();
  }

  read(ownerId: string, options: Abortable & RunSelection = {}): OutputReader {
    this.#authorise('wait', ownerId, this.#isKnownTo(ownerId, options));
    this.#auditAtOnce('wait', ownerId);
    return this.#tree.read(options);
  }

  stop(ownerId: string, options: StopSelection = {}): Promise<ProcessExit> {
    this.#authorise('stop', ownerId, this.#isKnownTo(ownerId, options));
    const end = (): Promise<ProcessExit> => this.end(options.reason ?? 'stopped', options.force);
    return this.#audit('stop', ownerId)?.then(end) ?? end();
  }

  async updateFile(ownerId: string, file: RunFile): Promise<void> {
    this.#authorise('updateFile', ownerId, ownerId === this.owner.id);
    const files = fileTexts([file]);
    try {
      const { folder } = this.#supervision;
      const found = `cannot change a file of ${this.name}: it was started without files`;
      if (folder === undefined) throw new ProcessError('notFound', found);
      await folder.change(file, async () => this.#audit('updateFile', ownerId, undefined, files));
    } catch (error) {
      const refusal = asProcessError(error, 'change a file of a run');
      this.#auditAtOnce('updateFile', ownerId, refusal, files);
      throw refusal;
    }
  }

  /** Resolves when the stop is recorded, before the run has ended. */
  async replace(ownerId: string): Promise<void> {
    if (this.#tree.state.kind !== 'running') return;
    await this.#audit('stop', ownerId);
    void this.end('replaced');
  }

  measure(): Promise<RunFigures> {
    return this.#tree.measure();
  }

  /** Only the first reason counts. Returns `ended`. */
  end(reason: ExitReason, force?: boolean): Promise<ProcessExit> {
    this.#tree.end(reason, force);
    return this.ended;
  }

  async #finish(exit: ProcessExit): Promise<ProcessExit> {
    const { onEvent, onEnded, folder } = this.#supervision;
    const { name, mark } = this;
    this.owner.disconnected.removeEventListener('abort', this.#onDisconnected);
    this.#lease.stopClock();
    if (!this.#tree.isGone) onEvent({ type: 'treeNotGone', mark, name });
    if (this.#tree.isCutOff) onEvent({ type: 'outputCutOff', mark, name });
    // Remove the files before reporting the end, so that a client never finds files of an ended run.
    const error = await folder?.remove();
    if (error !== undefined) onEvent({ type: 'filesNotRemoved', mark, error });
    const figures = await this.measure();
    this.#exit = exit;
    onEnded(this, exit, figures);
    return exit;
  }

  #endWithOwner(): void {
    const { disconnected } = this.#owner;
    // One connection may own any number of runs.
    setMaxListeners(0, disconnected);
    if (disconnected.aborted) void this.end('ownerDisconnected');
    else disconnected.addEventListener('abort', this.#onDisconnected, { once: true });
  }

  #isKnownTo(ownerId: string, { runId }: RunSelection): boolean {
    return ownerId === this.owner.id || runId === this.runId;
  }

  #authorise(action: DecisionRecord['action'], ownerId: string, allowed: boolean): void {
    if (allowed) return;
    const message = `cannot ${VERBS[action]} ${this.name}: another connection started it. Use that connection, or pass the run id`;
    const error = new ProcessError('notOwner', message, { rule: 'A35 run of another connection' });
    this.#auditAtOnce(action, ownerId, error);
    throw error;
  }

  /** Starts an audit record without waiting for it. The action is prevented only if `onDecision` throws synchronously. */
  #auditAtOnce(
    action: DecisionRecord['action'],
    requester: string,
    refused?: ProcessError,
    files?: readonly string[],
  ): void {
    this.#audit(action, requester, refused, files)?.catch(() => undefined);
  }

  #audit(
    action: DecisionRecord['action'],
    requester: string,
    refused?: ProcessError,
    files?: readonly string[],
  ): Promise<void> | undefined {
    const { name, mark, path } = this;
    const { runName } = this.#owner;
    const recorded = this.#supervision.onDecision({
      action,
      requester,
      mark,
      path,
      name,
      runName,
      files,
      ...verdictOf(refused),
    });
    return recorded ?? undefined;
  }

  readonly #onDisconnected = (): void => void this.end('ownerDisconnected');
}
