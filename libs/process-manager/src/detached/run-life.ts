/**
 * The life of one detached run: its attempts, what follows from their ends, and requests that change it, one at a time. This module is long because
 * all of them change the same state.
 */
import type { Note } from '../keeper/note.js';
import { quoteText, Serial } from '@wins/base';
import type { Clock } from '@wins/time';
import { EventEmitter, once } from 'node:events';
import type { KeeperConnection } from '../keeper/keeper-connection.js';
import type { KeptOutput, KeptTree } from '../keeper/kept-tree.js';
import type { OutputReadOptions } from '../output/output-log.js';
import { Spool, type SpoolOptions, type SpoolReader } from '../output/spool.js';
import type { AllowedExecutable, DetachedGrant } from '../policy/executable-policy.js';
import { asProcessError, ProcessError } from '../process-error.js';
import type { ProcessManager } from '../process-manager.js';
import type { Keeping, RunFacts, StartRequest } from '../start-request.js';
import type { ManagedProcess, ProcessOwner } from '../supervision/managed-process.js';
import type { RunFolders } from '../supervision/run-folders.js';
import { exitOf } from '../supervision/supervised-tree.js';
import { folderNameOf, type DetachedRecord, type RunEnd } from '../supervision/run-record.js';
import {
  hasLease,
  isBegun,
  isKept,
  lastEndOf,
  type DetachedEvent,
  type DetachedRun,
  type DiskClaim,
} from './detached-run.js';
import {
  afterEnd,
  afterRefusal,
  afterStart,
  planFile,
  startedByHand,
  type RestartPlan,
} from './restart-plan.js';
import { fullName } from './run-names.js';

/** Time until a plan that could not be written, as on a full disk, is written again. */
const STORE_AGAIN_MS = 1000;

/** Facts of a run that are chosen before its start. */
type Chosen = Omit<
  DetachedRecord,
  'version' | 'run' | 'supervisor' | 'pid' | 'startToken' | 'startedAtMs'
>;

export type Spawning = Pick<Keeping, 'mayRestart' | 'lifetime'> & {
  readonly signal: AbortSignal;
  /** Called before the process starts. If it returns undefined, the attempt starts without a keeper. */
  readonly about: (
    run: RunFacts,
    grant: DetachedGrant,
  ) => Promise<{ readonly run: RunLife; readonly chosen: Chosen } | undefined>;
  /** Called when the process exists. If it rejects, the process ends. */
  readonly recorded?: (facts: DetachedRecord) => Promise<void>;
};

/** Parts that all runs of a manager share. */
export interface LifeContext {
  readonly manager: ProcessManager;
  readonly folders: RunFolders;
  readonly places: {
    /** Reserves a place and disk space for an attempt. @throws ProcessError `tooManyProcesses`. */
    makeRoom(run: RunLife, program: string, grant: DetachedGrant): Promise<void>;
    /** Called when a run may have ended: it then claims only what it has on the disk. */
    fit(run: RunLife): void;
  };
  /** Starts a process in a keeper. `facts` is undefined if it has none. @throws ProcessError. */
  spawn(
    request: Omit<StartRequest, 'keeping'>,
    spawning: Spawning,
  ): Promise<{ readonly started: ManagedProcess; readonly facts: DetachedRecord | undefined }>;
  /** Returns the keeper of a run that is connected. */
  readonly keeperOf: (run: DetachedRun) => KeeperConnection | undefined;
  /** Returns the entry of a program that the config keeps. */
  readonly grantOf: (label: string) => AllowedExecutable | undefined;
  readonly add: (run: RunLife) => void;
  readonly forget: (run: RunLife) => Promise<void>;
  /** Never throws. */
  readonly forgetSoon: (run: RunLife) => void;
  /** Called when a keeper may have become idle. */
  readonly leaveIdle: () => void;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly random?: (() => number) | undefined;
  readonly onEvent: (event: DetachedEvent) => void;
  readonly note: Note;
  /** Aborted when the manager closes. */
  readonly closing: AbortSignal;
  /** Aborted when the system shuts down. */
  readonly shutdown: AbortSignal;
}

/** How an attempt is started by request. */
export interface ByHand {
  readonly signal: AbortSignal;
  readonly clientSays: string | undefined;
  /** How the living attempt ends before this one. */
  readonly replaces?: { readonly reason: 'stopped' | 'replaced'; readonly requester: string };
}

type Attempt = ByHand & { readonly isRestart: boolean };

interface UnbegunParts {
  readonly owner: DetachedRecord['owner'];
  readonly path: string;
  /** Undefined for a run with a lease. */
  readonly plan: RestartPlan | undefined;
  readonly leaseMs?: number;
}

export class RunLife implements DetachedRun {
  readonly label: string;
  facts: DetachedRecord;
  plan: RestartPlan | undefined;
  process: ManagedProcess | undefined;
  end: RunEnd | undefined;
  refused: ProcessError | undefined;
  isStarting = false;
  /** Tree of the process. */
  tree: KeptTree | undefined;
  claim: DiskClaim | undefined;
  readonly #context: LifeContext;
  readonly #changes = new EventEmitter().setMaxListeners(0);
  /** Monotonic time at which this daemon saw the newest attempt start; undefined for an adopted one. */
  #startedAtMonoMs: number | undefined;
  /** Monotonic time of the planned restart, once this daemon waits for it; `atMs` identifies the plan. */
  #awaited: { readonly atMs: number; readonly monoMs: number } | undefined;
  /** Monotonic time since which this daemon knows the last end, and the age that the end had then. */
  #endedFrom: { readonly monoMs: number; readonly agedMs: number } = { monoMs: 0, agedMs: 0 };
  /** Aborted to end the wait for a restart, or the start in progress. Undefined before the first of them. */
  #starting: AbortController | undefined;
  /** Requests to stop or remove the run so far. An operation that was requested before the last of them does nothing. */
  #stops = 0;
  /** True while another attempt of the run replaces the living one, so that its end leads to no restart. */
  #isReplaced = false;
  #isGone = false;
  /** True while the disk may have an older plan, because the last write that ended has failed. */
  #isUnstored = false;
  #isStoredLater = false;
  #readers = 0;
  /** True if an earlier daemon started the newest attempt, so that clients may be on their way to this one. */
  #isAdopted = false;
  /** Settles after all operations on the run so far. Never rejects. */
  readonly #operations = new Serial();
  /** Writes of the plan, which may wait for the disk: a late write must neither hide a newer plan nor meet the removal of the folder. */
  readonly #writes = new Serial();
  #restarting = Promise.resolve();
  /** Resolves when the run has ended and this daemon has recorded its end. */
  #over = Promise.resolve();

  constructor(
    context: LifeContext,
    { label, facts, plan }: Pick<DetachedRun, 'label' | 'facts' | 'plan'>,
  ) {
    this.#context = context;
    this.label = label;
    this.facts = facts;
    this.plan = plan;
  }

  /** Creates a run of which no attempt has started yet. */
  static unbegun(
    context: LifeContext,
    label: string,
    mark: string,
    { plan, path, ...chosen }: UnbegunParts,
  ): RunLife {
    const nowMs = context.now();
    const process = { supervisor: '', pid: 0, startToken: '', startedAtMs: nowMs };
    const run = { name: '', mark, path, entry: '', stagedPath: '', sha256: '' };
    const facts = {
      version: 1,
      label,
      ...process,
      run,
      ...chosen,
      spoolBytes: 0,
      maxAgeMs: 0,
    } as const;
    const life = new RunLife(context, { label, facts, plan });
    life.end = lostEnd(mark, 0, nowMs);
    return life;
  }

  /** True once the run is forgotten. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** True while the keeper of the run is alive but has not answered yet. */
  get isWaiting(): boolean {
    return this.process === undefined && this.end === undefined;
  }

  /** Time since the last end, whatever the clock was set to meanwhile. */
  get ageMs(): number {
    const { agedMs, monoMs } = this.#endedFrom;
    return agedMs + this.#context.clock.monotonicMs() - monoMs;
  }

  /** Resolves when the restart is done or cancelled. */
  get restarting(): Promise<void> {
    return this.#restarting;
  }

  get output(): KeptOutput {
    return {
      written: () => void this.#changes.emit('more'),
      read: (options) => this.read(options),
    };
  }

  /** True while somebody reads its output. */
  get isRead(): boolean {
    return this.#readers > 0;
  }

  /** A follower receives output until the final end of the run. */
  read(options: OutputReadOptions = {}, search?: SpoolOptions['search']): SpoolReader {
    const { folders, keeperOf, closing } = this.#context;
    const { facts } = this;
    let told = 0;
    this.#readers += 1;
    const spool = new Spool(folders.folderOf(folderNameOf(facts)), {
      end: () => lastEndOf(this)?.outputBytes,
      more: (signal) => once(this.#changes, 'more', { signal }),
      search,
      taken: (offset) => {
        if (!hasLease(this) || offset - told < facts.spoolBytes / 32) return;
        told = offset;
        keeperOf(this)?.read(this.facts.run.mark, told);
      },
      closed: () => {
        this.#readers -= 1;
        this.#forgetIfBrief();
      },
    });
    const ends = [closing, ...(options.signal ? [options.signal] : [])];
    return spool.read({ ...options, signal: AbortSignal.any(ends) });
  }

  /** Starts an attempt by request, unless one lives. @throws ProcessError. */
  startAgain(how: ByHand): Promise<void> {
    return this.#inTurn(async () => {
      if (this.process?.state.kind !== 'running') await this.#startByHand(undefined, how);
    });
  }

  /**
   * Starts an attempt by request. If it is refused, the run stays as it was.
   *
   * @param plan - Replaces the plan of the run. Default: the plan stays.
   * @throws ProcessError.
   */
  start(how: ByHand, plan?: RestartPlan): Promise<void> {
    return this.#inTurn(() => this.#startByHand(plan, how));
  }

  async #startByHand(other: RestartPlan | undefined, { signal, ...how }: ByHand): Promise<void> {
    assertAnswers(this, 'start');
    await this.#settled();
    const { plan: before, process: living, facts } = this;
    const plan = other ?? before;
    if (plan === undefined) throw isIncomplete(this);
    const attempt = (this.#starting = new AbortController());
    this.plan = startedByHand(plan, this.#context.now());
    try {
      const signals = [signal, attempt.signal];
      await this.#attempt({ ...how, isRestart: false, signal: AbortSignal.any(signals) });
    } catch (error) {
      const isStopped = attempt.signal.aborted;
      const hasEnded = living !== undefined && this.process === undefined;
      if (before === undefined) throw error;
      // The end of an attempt that was cancelled leads to nothing.
      const hasBegun = this.facts !== facts;
      const same = hasBegun ? { ...before, counted: this.facts.run.mark } : before;
      if (isStopped) this.plan = { ...same, next: { kind: 'stopped' } };
      else if (hasEnded && this.end?.reason === how.replaces?.reason)
        this.plan = startedByHand(same, this.#context.now());
      else if (hasEnded) {
        const { next, counted, failures } = this.plan;
        this.plan = { ...same, next, failures, ...(!hasBegun && { counted }) };
      } else this.plan = same;
      await this.#store();
      if (!isStopped) this.resume();
      throw isStopped ? wasStopped(this, error) : error;
    }
  }

  /** Starts the next attempt of a run, which the current config may refuse. @throws ProcessError. */
  async #attempt({ signal, isRestart, clientSays, replaces }: Attempt): Promise<void> {
    const { label, plan } = this;
    const { owner } = this.facts;
    const wasBegun = isBegun(this);
    if (plan === undefined) throw new Error('cannot start a run with a lease again');
    const starting = {
      ...plan.request,
      owner: ownerOf(this, clientSays),
      grantedBy: this.#context.grantOf(label),
    };
    let granted = plan;
    let started: DetachedRecord | undefined;
    this.isStarting = this.process === undefined;
    try {
      const spawned = await this.#context.spawn(starting, {
        lifetime: 'detached',
        mayRestart: plan.when !== 'never',
        signal,
        about: async ({ path }, grant) => {
          await this.#context.places.makeRoom(this, path, grant);
          if (this.process !== undefined && replaces)
            await this.#endForNext(this.process, replaces);
          this.isStarting = true;
          granted = { ...plan, backoff: grant.restart ?? plan.backoff };
          this.plan = granted;
          const { spoolBytes } = grant;
          const maxAgeMs = Math.min(grant.maxAgeMs, plan.maxAgeMs ?? Infinity);
          const same = { label, owner, spoolBytes, maxAgeMs };
          if (!wasBegun) return { run: this, chosen: same };
          // If this daemon is killed now, the next one starts what was to be started.
          await this.#store();
          const outputBytes = this.end?.outputBytes ?? 0;
          const continues = { folder: folderNameOf(this.facts), outputBytes };
          return { run: this, chosen: { ...same, continues } };
        },
        recorded: async (facts) => {
          started = facts;
          const file = planFile(this.#context.folders.folderOf(facts.run.mark));
          if (!wasBegun) await file.write(afterStart(granted, false));
        },
      });
      if (spawned.facts === undefined) throw new Error('cannot follow a run: no keeper has it');
      this.#startedAtMonoMs = this.#context.clock.monotonicMs();
      this.#isAdopted = false;
      this.plan = afterStart(granted, isRestart && wasBegun);
      this.follow(spawned.started, spawned.facts);
      this.isStarting = false;
      if (wasBegun) await this.#store();
    } catch (error) {
      // The attempt began and was ended, because somebody stopped it meanwhile.
      if (started !== undefined && wasBegun) {
        this.facts = started;
        this.end = await this.#endOnDisk();
        this.#endedFrom = { monoMs: this.#context.clock.monotonicMs(), agedMs: 0 };
      }
      this.#context.places.fit(this);
      throw error;
    } finally {
      this.isStarting = false;
      this.#changes.emit('more');
    }
  }

  async #endForNext(
    process: ManagedProcess,
    { reason, requester }: NonNullable<Attempt['replaces']>,
  ): Promise<void> {
    this.#isReplaced = true;
    try {
      await process.stop(requester, { runId: process.runId, reason });
      await this.#over;
    } finally {
      this.#isReplaced = false;
    }
  }

  async takeOver(keeper: KeeperConnection | undefined): Promise<void> {
    this.#isAdopted = true;
    const { facts, label } = this;
    const { mark } = facts.run;
    const end = await this.#context.folders.endOf(this.facts);
    if (end !== undefined || keeper?.has(mark) !== true) {
      this.#context.add(this);
      const known = end ?? (await this.#recordLost());
      if (known.isTold !== true) await this.#tell(known);
      await this.#settle(known);
      return;
    }
    const tree = (this.tree = keeper.adopt(facts, this.output));
    // The plan may still have the restart that led to this attempt.
    if (this.plan?.next.kind === 'again') this.plan = { ...this.plan, next: { kind: 'none' } };
    try {
      const adopted = this.#context.manager.adopt(facts.run, tree, ownerOf(this), lifetimeOf(this));
      this.follow(adopted);
      if (hasLease(this)) keeper.read(mark, 0);
      this.#context.note('info', 'took over a detached run', { mark, label, pid: facts.pid });
    } catch (err) {
      this.#context.note('error', 'cannot take over a detached run; it is ended', {
        err,
        mark,
        label,
      });
      tree.end('hostFailed', true);
      this.#context.add(this);
      this.#over = tree.ended.then(() => this.#ended());
      return;
    }
    // The daemon that was asked to stop the run was killed before it could.
    if (this.plan?.next.kind === 'stopped')
      this.stop('daemon', false).catch((err: unknown) => {
        this.#context.note('error', 'cannot stop a detached run', { err, mark, label });
      });
  }

  /** Follows an attempt, which lives, to its end. */
  follow(process: ManagedProcess, facts = this.facts): void {
    this.facts = facts;
    this.end = undefined;
    this.refused = undefined;
    this.process = process;
    this.#context.add(this);
    this.#over = process.ended.then(async () => {
      await this.#ended();
      if (!hasLease(this)) return;
      // The client can query the exit status until it disconnects.
      const { disconnected } = process.owner;
      const forget = (): void => {
        if (!this.#context.closing.aborted) this.#context.forgetSoon(this);
      };
      if (disconnected.aborted) forget();
      else disconnected.addEventListener('abort', forget, { once: true });
    });
  }

  async #ended(): Promise<void> {
    let end: RunEnd;
    try {
      end = this.tree?.recordedEnd ?? (await this.#endOnDisk());
      await this.#setTold(end);
    } catch (err) {
      const { mark } = this.facts.run;
      this.#context.note('error', 'cannot read how a run ended', { err, mark });
      end = lostEnd(mark, 0, this.#context.now());
    }
    await this.#settle(end);
    this.#forgetIfBrief();
    this.#context.leaveIdle();
  }

  /** Removes a run that is not kept after its end, once it has ended for good and its readers have all output. Others are left to age. */
  #forgetIfBrief(): void {
    const isOver = this.process === undefined && !this.isStarting && lastEndOf(this) !== undefined;
    const isBrief = this.facts.maxAgeMs === 0 && isBegun(this) && !this.#isAdopted;
    if (!isBrief || !isOver || this.isRead || this.isGone) return;
    if (!this.#context.closing.aborted) this.#context.forgetSoon(this);
  }

  async #settle(end: RunEnd): Promise<void> {
    const { facts, plan } = this;
    const startedAtMonoMs = this.#startedAtMonoMs;
    const monoMs = this.#context.clock.monotonicMs();
    const agedMs = Math.max(0, this.#context.now() - end.endedAtMs);
    this.#endedFrom = { monoMs, agedMs: startedAtMonoMs === undefined ? agedMs : 0 };
    const isToCount = plan !== undefined && plan.counted !== end.mark;
    let next = plan;
    if (isToCount && !this.#isReplaced && !this.isGone) {
      // The clock may have jumped meanwhile.
      const seenMs =
        startedAtMonoMs === undefined
          ? end.endedAtMs - facts.startedAtMs
          : monoMs - startedAtMonoMs;
      const livedMs = end.livedMs ?? seenMs;
      const endedAtMs = startedAtMonoMs === undefined ? end.endedAtMs : this.#context.now();
      next = afterEnd(plan, { ...end, endedAtMs, livedMs }, this.#context.random);
      // The next daemon would draw the same conclusion from the end of a run that is never restarted.
      if (plan.when !== 'never') await this.#store(facts, next);
    }
    // All at once, so that nobody sees a state between the end and the wait.
    this.process = undefined;
    this.end = end;
    this.#startedAtMonoMs = undefined;
    if (next !== undefined && next !== plan) this.#apply(next);
    this.#context.places.fit(this);
    this.#changes.emit('more');
    if (!this.#isReplaced) this.resume();
  }

  /** Continues the restarts of a run that its plan asks for. */
  resume(): void {
    this.#restarting = this.#restart();
  }

  /** Never rejects. */
  async #restart(): Promise<void> {
    const hasWaited = this.plan?.next.kind === 'again';
    if (hasWaited && !(await this.#restartInTime())) return;
    // Informs followers that the run has ended.
    this.#changes.emit('more');
    if (hasWaited) this.#forgetIfBrief();
    this.#context.leaveIdle();
  }

  /** @returns False if the run was stopped or removed meanwhile, or this daemon ends. Never rejects. */
  async #restartInTime(): Promise<boolean> {
    const attempt = (this.#starting = new AbortController());
    const { clock, closing, shutdown } = this.#context;
    const signal = AbortSignal.any([closing, shutdown, attempt.signal]);
    try {
      for (let isDone = false; !isDone && this.plan?.next.kind === 'again';) {
        const waitMs = this.#waitOf(this.plan.next.atMs, this.plan.backoff.maxDelayMs);
        await clock.wait(waitMs, { signal });
        isDone = await this.#inTurn(() => this.#tryAgain(signal));
      }
      return true;
    } catch {
      return false;
    }
  }

  /** Returns the time until a planned restart. Once this daemon knows the plan, settings of the clock do not change that time. */
  #waitOf(atMs: number, longestMs: number): number {
    const monoMs = this.#context.clock.monotonicMs();
    if (this.#awaited?.atMs !== atMs) {
      // The clock may have been set by hours since an earlier daemon planned the restart.
      const leftMs = Math.min(longestMs, Math.max(0, atMs - this.#context.now()));
      this.#awaited = { atMs, monoMs: monoMs + leftMs };
    }
    return Math.max(0, this.#awaited.monoMs - monoMs);
  }

  /** @returns False if the start was refused, so that the plan says what follows. */
  async #tryAgain(signal: AbortSignal): Promise<boolean> {
    const { plan } = this;
    const isCancelled = (): boolean => signal.aborted;
    if (isCancelled() || plan?.next.kind !== 'again') return true;
    try {
      await this.#attempt({ isRestart: true, clientSays: undefined, signal });
      return true;
    } catch (cause) {
      const error = asProcessError(cause);
      this.plan = plan;
      if (error.code === 'shuttingDown' || isCancelled()) return true;
      const next = afterRefusal(plan, error, this.#context.now(), this.#context.random);
      await this.#plan(next, error);
      return false;
    }
  }

  /** Reports, once, an end that happened while no daemon was connected. */
  async #tell(end: RunEnd): Promise<void> {
    const { run } = this.facts;
    const exit = exitOf(end, end.reason);
    const { figures = { output: { stdoutBytes: 0, stderrBytes: 0, pauses: 0 } } } = end;
    this.#context.manager.reportEnded(run, exit, figures, ownerOf(this));
    this.#context.onEvent({ type: 'runEndedUnattended', run: this, exit });
    await this.#setTold(end);
  }

  /** Records that the end was reported. If the disk is full, the record is lost, and the next daemon reports the end again. */
  async #setTold(end: RunEnd): Promise<void> {
    const { folders } = this.#context;
    const told = { ...end, isTold: true } as const;
    await folders.writeEnd(folderNameOf(this.facts), told).catch(() => undefined);
  }

  /** Applies and reports the plan even if it cannot be stored, as on a full disk. */
  async #plan(plan: RestartPlan, refused?: ProcessError): Promise<void> {
    this.plan = plan;
    await this.#store();
    this.#apply(plan, refused);
  }

  #apply(plan: RestartPlan, refused?: ProcessError): void {
    const { next } = (this.plan = plan);
    this.#awaited = undefined;
    this.refused = refused;
    const { onEvent } = this.#context;
    if (next.kind === 'gaveUp') onEvent({ type: 'runGaveUp', run: this, next });
    if (next.kind !== 'again') return;
    const waitMs = Math.max(0, next.atMs - this.#context.now());
    onEvent({ type: 'runRestarts', run: this, waitMs, refused });
  }

  async #store(facts = this.facts, plan = this.plan): Promise<void> {
    if (plan === undefined || facts.pid === 0) return;
    const file = planFile(this.#context.folders.folderOf(folderNameOf(facts)));
    try {
      await this.#writes.run(() => file.write(plan));
      this.#isUnstored = false;
    } catch (err) {
      this.#isUnstored = true;
      if (this.#isGone || this.#isStoredLater) return;
      const { mark } = facts.run;
      this.#context.note('warn', 'cannot record when a run is started again', { err, mark });
      void this.#storeLater();
    }
  }

  /** Never rejects. */
  async #storeLater(): Promise<void> {
    const { clock, closing: signal } = this.#context;
    this.#isStoredLater = true;
    await clock.wait(STORE_AGAIN_MS, { signal }).catch(() => undefined);
    this.#isStoredLater = false;
    if (!this.#isGone && !signal.aborted) await this.#store();
  }

  async #endOnDisk(): Promise<RunEnd> {
    return (await this.#context.folders.endOf(this.facts)) ?? this.#recordLost();
  }

  /** Records the end of a run whose keeper died. The run's exit is unknown. */
  async #recordLost(): Promise<RunEnd> {
    const { mark } = this.facts.run;
    const folder = folderNameOf(this.facts);
    const outputBytes = await new Spool(this.#context.folders.folderOf(folder)).size();
    const end = lostEnd(mark, outputBytes, this.#context.now());
    await this.#context.folders.writeEnd(folder, end).catch((err: unknown) => {
      this.#context.note('warn', 'cannot record how a run ended', { err, mark });
    });
    return end;
  }

  async stop(requester: string, force: boolean): Promise<RunEnd> {
    assertAnswers(this, 'stop');
    // The kill does not wait for operations that were requested before it.
    if (force) await this.process?.stop(requester, { runId: this.process.runId, force });
    return this.#end(async () => {
      const wasOver = lastEndOf(this) !== undefined && !this.isGone;
      // The next daemon starts an ended program of `keep`, unless somebody has stopped it.
      const isToStop = !wasOver || this.plan?.next.kind === 'gaveUp' || isKept(this.label);
      if (this.plan !== undefined && isToStop)
        await this.#plan({ ...this.plan, next: { kind: 'stopped' } });
      // The plan on the disk may still be that of a start that failed, which the next daemon would try again.
      else if (this.#isUnstored) await this.#store();
      await this.#endProcess(requester);
      this.#context.places.fit(this);
      this.#changes.emit('more');
      this.#forgetIfBrief();
      this.#context.leaveIdle();
      const end = this.end ?? lostEnd(this.facts.run.mark, 0, this.#context.now());
      return wasOver ? end : { ...end, reason: 'stopped' };
    });
  }

  /** Cancels a wait or a start in progress, and then runs `work`. */
  #end<T>(work: () => Promise<T>): Promise<T> {
    this.#stops += 1;
    this.#starting?.abort('stopped');
    const end = async (): Promise<T> => {
      await this.#settled();
      return work();
    };
    return this.#inTurn(end, true);
  }

  /** Waits until the end of the last attempt is recorded, and cancels the restart that follows from it. */
  async #settled(): Promise<void> {
    if (this.process?.state.kind !== 'running') await this.#over;
    this.#starting?.abort('settled');
  }

  async #endProcess(requester: string): Promise<void> {
    const { process } = this;
    if (process === undefined) return;
    await process.stop(requester, { runId: process.runId });
    await this.#over;
  }

  async remove(requester: string): Promise<RunEnd | undefined> {
    assertAnswers(this, 'remove');
    return this.#end(async () => {
      await this.#endProcess(requester);
      // Followers no longer wait for another attempt.
      if (this.plan !== undefined) this.plan = { ...this.plan, next: { kind: 'stopped' } };
      await this.#context.forget(this);
      this.#changes.emit('more');
      return this.end;
    });
  }

  /** Ends waits, and removes the files of the run. */
  async forget(): Promise<void> {
    this.#isGone = true;
    this.#starting?.abort('removed');
    this.claim?.release();
    if (isBegun(this))
      await this.#writes.run(() => this.#context.folders.remove(folderNameOf(this.facts)));
  }

  /**
   * Runs one operation at a time on the run, in the order of the requests.
   *
   * @param isStop - True: the operation ends the run, so another request to stop it does not cancel it. Default false.
   * @throws ProcessError `notFound` if the run has been removed meanwhile, `aborted` if it has been stopped.
   */
  #inTurn<T>(work: () => Promise<T>, isStop = false): Promise<T> {
    const stops = this.#stops;
    const tried = `cannot change the detached run ${quoteText(this.label)}: it was`;
    return this.#operations.run(() => {
      // A run whose first start was cancelled by this stop is gone, as requested.
      const isCancelled = isStop && !isBegun(this);
      if (this.#isGone && !isCancelled)
        throw new ProcessError('notFound', `${tried} removed meanwhile`);
      if (this.#stops !== stops && !isStop)
        throw new ProcessError('aborted', `${tried} stopped meanwhile`);
      return work();
    });
  }
}

/** @throws ProcessError `stateUnavailable`. */
export function assertAnswers(run: RunLife, verb: 'start' | 'stop' | 'remove'): void {
  if (!run.isWaiting) return;
  const why = 'its keeper does not answer, or serves another daemon';
  throw new ProcessError('stateUnavailable', `cannot ${verb} ${quoteText(run.label)}: ${why}`);
}

function lifetimeOf(run: DetachedRun): Keeping['lifetime'] {
  return hasLease(run) ? 'lease' : 'detached';
}

function ownerOf(run: DetachedRun, clientSays?: string): ProcessOwner {
  const { label, facts } = run;
  const { owner } = facts;
  const names = hasLease(run)
    ? { id: `detached:${label}` }
    : { id: `detached:${fullName(run)}`, label: clientSays, runName: label };
  const { signal: disconnected } = new AbortController();
  return { ...names, client: owner, absentClient: owner, disconnected };
}

function lostEnd(mark: string, outputBytes: number, endedAtMs: number): RunEnd {
  return { version: 1, mark, code: 137, reason: 'hostFailed', endedAtMs, outputBytes };
}

function isIncomplete({ label }: RunLife): ProcessError {
  const why = 'the record of its request is missing or damaged. Remove it, and start it anew';
  return new ProcessError('stateUnavailable', `cannot start ${quoteText(label)}: ${why}`);
}

function wasStopped({ label }: RunLife, cause: unknown): ProcessError {
  const message = `cannot start ${quoteText(label)}: it was stopped meanwhile`;
  return new ProcessError('aborted', message, { cause });
}
