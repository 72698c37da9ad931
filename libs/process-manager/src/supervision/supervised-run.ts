// Longer than most files, because the leader, its tree, the output and the stop of a run share one state.
import type { ExposedPort, HostExit, HostProcess, TreeUsage } from '@wins/base';
import { setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';

import type { EntryName } from '../policy/executable-policy.js';
import { fileTexts, verdictOf, type DecisionRecord } from './decision-record.js';
import { endProcessTree, resolvesInTime } from './end-process-tree.js';
import { moveRun } from './managed-process.js';
import type * as managed from './managed-process.js';
import type { ExitReason, ManagedProcess, ProcessExit, ProcessOwner } from './managed-process.js';
import type { ProcessState, RunFigures, RunSelection } from './managed-process.js';
import { KeepAliveLease } from './keep-alive-lease.js';
import type { CompleteOptions } from '../manager-options.js';
import type { OutputReader, OutputReadOptions, OutputStream } from '../output/output-log.js';
import { ProcessOutput } from '../output/process-output.js';
import type { OutputFigures } from '../output/process-output.js';
import type { RunFile } from '../policy/run-files.js';
import { asProcessError, ProcessError } from '../process-error.js';
import type { RunFolder } from '../staging/run-folder.js';
import type { KeptProcess } from '../start-request.js';
import { markOf } from './run-records.js';

// More than the kernel can buffer in both pipes of a child.
const DRAIN_ALLOWANCE_BYTES = 2 * 1024 * 1024;
const VERBS: Readonly<Record<DecisionRecord['action'], string>> = {
  start: 'start',
  wait: 'follow',
  keepAlive: 'keep alive',
  stop: 'stop',
  updateFile: 'change a file of',
};

type RunFacts = Pick<
  ManagedProcess,
  | ('name' | 'runId' | 'mark' | 'path' | 'entry' | 'stagedPath')
  | ('sha256' | 'owner' | 'exposes' | 'ports' | 'limits' | 'lasts' | 'isHeld')
>;

export interface Supervision extends Pick<
  CompleteOptions,
  ('graceMs' | 'leaseTimeoutMs' | 'maxBufferedBytes' | 'firstReaderMs') | ('onDecision' | 'onEvent')
> {
  readonly run: RunFacts;
  /** True for an adopted run. If `run.isHeld`, its client must connect again. Default false. */
  readonly isAdopted?: boolean;
  readonly hostProcess: HostProcess | KeptProcess;
  /** Removed when the run ends. */
  readonly folder?: RunFolder | undefined;
  readonly onEnded: (run: SupervisedRun, end: RunEnd) => void;
  /** Called when the lease is released. An ended run may then be forgotten. */
  readonly onReleased: (run: SupervisedRun) => void;
}

export interface RunEnd {
  /** False if a process of the run could not be ended. */
  readonly treeGone: boolean;
  readonly figures: RunFigures;
}

/** Decides when and why a run ends, and cleans up. One long file, because these parts depend on each other. */
export class SupervisedRun implements ManagedProcess {
  readonly name: string;
  readonly mark: string;
  readonly path: string;
  readonly entry: EntryName;
  readonly stagedPath: string;
  readonly sha256: string;
  readonly exposes: readonly ExposedPort[];
  readonly ports: managed.PortsOutcome | undefined;
  readonly limits: managed.RunLimits | undefined;
  readonly lasts: boolean;
  readonly isHeld: boolean;
  readonly pid: number;
  readonly startedAtMs: number;
  readonly ended: Promise<ProcessExit>;
  readonly #supervision: Supervision;
  readonly #host: HostProcess | KeptProcess;
  readonly #output: ProcessOutput;
  readonly #outputClosed: Promise<unknown>;
  readonly #lease: KeepAliveLease;
  readonly #holdTimer: NodeJS.Timeout;
  /** Aborts when the run must be killed at once. */
  readonly #force = new AbortController();
  #runId: string;
  #owner: ProcessOwner;
  #awaitsOwner: boolean;
  #isLeft = false;
  #state: ProcessState = { kind: 'running' };
  #leaderExit: HostExit | undefined;
  #lastUsage: TreeUsage | undefined;
  #resolveEnded: (exit: ProcessExit) => void = () => undefined;

  constructor(supervision: Supervision) {
    const { run, hostProcess, isAdopted = false } = supervision;
    this.name = run.name;
    this.#runId = run.runId;
    this.mark = run.mark;
    this.path = run.path;
    this.entry = run.entry;
    this.stagedPath = run.stagedPath;
    this.sha256 = run.sha256;
    this.#owner = run.owner;
    this.#awaitsOwner = isAdopted && run.isHeld;
    this.exposes = run.exposes;
    this.ports = run.ports;
    this.limits = run.limits;
    this.lasts = run.lasts;
    this.isHeld = run.isHeld;
    this.pid = hostProcess.pid;
    this.startedAtMs = 'keeper' in hostProcess ? hostProcess.startedAtMs : Date.now();
    this.#supervision = supervision;
    this.#host = hostProcess;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));

    const { stdout, stderr } = hostProcess;
    this.#output = new ProcessOutput(supervision.maxBufferedBytes, {
      pause: () => [stdout, stderr].forEach((stream) => stream.pause()),
      resume: () => [stdout, stderr].forEach((stream) => stream.resume()),
    });
    this.#holdTimer = setTimeout(() => this.#output.stopHolding(), supervision.firstReaderMs);
    this.#outputClosed = Promise.all([
      this.#collect('stdout', stdout),
      this.#collect('stderr', stderr),
    ]);
    this.#lease = new KeepAliveLease(
      supervision.leaseTimeoutMs,
      () => void this.end('leaseNeverHeld'),
    );
    // A lasting run needs no timer: its keeper stores the output, and `#output` stays empty.
    if (run.lasts) clearTimeout(this.#holdTimer);
    if (!run.isHeld) this.#lease.claim();
    void hostProcess.exited.then((exit) => {
      this.#leaderExit = exit;
      return this.end(exit.outOfMemory === true ? 'outOfMemory' : 'exited');
    });
    this.#endWithOwner();
  }

  get runId(): string {
    return this.#runId;
  }

  get owner(): ProcessOwner {
    return this.#owner;
  }

  get state(): ProcessState {
    return this.#state;
  }

  get released(): boolean {
    return this.#lease.state === 'released';
  }

  holdLease(ownerId: string): managed.Lease {
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
    return {
      release: () => {
        if (this.#lease.release()) {
          void this.end('leaseEnded');
          this.#supervision.onReleased(this);
        }
        return this.ended;
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

  leave(): void {
    this.#isLeft = this.lasts;
  }

  read(ownerId: string, options: OutputReadOptions & RunSelection = {}): OutputReader {
    this.#authorise('wait', ownerId, this.#isKnownTo(ownerId, options));
    this.#auditAtOnce('wait', ownerId);
    return this.#output.read(options);
  }

  stop(ownerId: string, options: managed.StopSelection = {}): Promise<ProcessExit> {
    this.#authorise('stop', ownerId, this.#isKnownTo(ownerId, options));
    const end = (): Promise<ProcessExit> => {
      if (options.force === true) this.#force.abort();
      return this.end(options.reason ?? 'stopped');
    };
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
    if (this.#state.kind !== 'running') return;
    await this.#audit('stop', ownerId);
    void this.end('replaced');
  }

  async measure(): Promise<RunFigures> {
    const usage = this.#lastUsage ?? (await this.#host.usage());
    return { usage: this.#lastUsage ?? usage, output: this.#written };
  }

  get #written(): OutputFigures {
    return ('keeper' in this.#host ? this.#host.output : undefined) ?? this.#output.figures;
  }

  /** Only the first reason counts. Returns `ended`. */
  end(reason: ExitReason): Promise<ProcessExit> {
    if (this.#state.kind === 'running' && !this.#isLeft) {
      this.#move({ kind: 'stopping', reason });
      void this.#finish(reason);
    }
    return this.ended;
  }

  async #finish(reason: ExitReason): Promise<void> {
    const { graceMs, onEvent } = this.#supervision;
    const { name, mark } = this;
    this.owner.disconnected.removeEventListener('abort', this.#onDisconnected);
    this.#lease.stopClock();
    clearTimeout(this.#holdTimer);

    // Most programs leave no process behind; then there is no tree to end.
    const hasEnded = reason === 'exited' || reason === 'outOfMemory';
    const leftAlone = hasEnded && (await this.#host.isGone());
    const onKill = (): void => this.#move({ kind: 'killing', reason });
    const treeGone =
      leftAlone || (await endProcessTree(this.#host, graceMs, onKill, this.#force.signal));
    if (!treeGone) onEvent({ type: 'treeNotGone', mark, name });

    this.#move({ kind: 'draining', reason });
    this.#output.finish(DRAIN_ALLOWANCE_BYTES);
    if (!(await resolvesInTime(this.#outputClosed, graceMs))) {
      onEvent({ type: 'outputCutOff', mark, name });
    }
    // Measure before `close`, which closes the handles that measuring needs.
    this.#lastUsage = await this.#host.usage();
    this.#host.close();
    const { code, signal } = treeGone
      ? await this.#host.exited
      : (this.#leaderExit ?? { code: 137, signal: 'SIGKILL' });

    // Remove the files before reporting the end, so that a client never finds files of an ended run.
    const error = await this.#supervision.folder?.remove();
    if (error !== undefined) onEvent({ type: 'filesNotRemoved', mark, error });
    const exit = { code, ...(signal === undefined ? {} : { signal }), reason };
    this.#move({ kind: 'ended', exit });
    this.#output.close();
    const figures = { usage: this.#lastUsage, output: this.#written };
    this.#supervision.onEnded(this, { treeGone, figures });
    this.#resolveEnded(exit);
  }

  #collect(name: OutputStream, stream: Readable): Promise<void> {
    return new Promise((resolve) => {
      stream.on('data', (bytes: Buffer) => this.#output.append(name, bytes));
      // A failed pipe needs no handling: 'close' follows.
      stream.on('error', () => undefined);
      stream.once('close', resolve);
    });
  }

  #move(to: ProcessState): void {
    this.#state = moveRun(this.#state, to);
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
      ...{ action, requester, mark, path, name },
      ...(runName !== undefined && { runName }),
      ...(files && { files }),
      ...verdictOf(refused),
    });
    return recorded ?? undefined;
  }

  readonly #onDisconnected = (): void => void this.end('ownerDisconnected');
}
