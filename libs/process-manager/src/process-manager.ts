import { quoteText } from '@wins/base';
import { createHash, randomBytes } from 'node:crypto';
import type { Abortable } from 'node:events';
import path from 'node:path';
import { firstAborted } from './commands/command-runner.js';
import { RunFolders } from './supervision/run-folders.js';
import { lineageOf, markOf } from './supervision/run-mark.js';
import {
  completeOptions,
  type CompleteOptions,
  type ProcessManagerOptions,
} from './manager-options.js';
import {
  judgeStart,
  type Admission,
  type StartQuestion,
  type StartVerdict,
} from './judge-start.js';
import {
  stagedPathsOf,
  type AllowedExecutable,
  type EntryName,
} from './policy/executable-policy.js';
import { minimalEnvironment } from './policy/child-environment.js';
import { stopRequest } from './policy/stop-request.js';
import { isOwnCopy, nameKey, ownCopyOf } from './policy/parsed-path.js';
import { asProcessError, ProcessError } from './process-error.js';
import { FILES_VARIABLE, removeLeftFolders, RunFolder, runFolderOf } from './staging/run-folder.js';
import { findOwnCopies, removeOwnCopy } from './staging/own-copies.js';
import {
  copyVerified,
  MAX_EXECUTABLE_BYTES,
  verifyBytes,
  type StagedBinary,
} from './staging/staged-binary.js';
import { assertDirectory, StagingSlots } from './staging/staging-slots.js';
import { startDecision } from './supervision/decision-record.js';
import {
  admitStart,
  planStart,
  type Keeping,
  type RunFacts,
  type StartPlan,
  type StartRequest,
} from './start-request.js';
import { endLeftovers, endStaleCopies } from './supervision/end-leftovers.js';
import { ExposedPorts } from './supervision/exposed-ports.js';
import type {
  Lifetime,
  ManagedProcess,
  PortsOutcome,
  ProcessExit,
  ProcessOwner,
  RecoveredProcess,
  RunFigures,
  RunLimits,
} from './supervision/managed-process.js';
import { resolvesInTime } from './supervision/end-process-tree.js';
import { RunNames, RunRegistry, type RunName } from './supervision/run-registry.js';
import { SupervisedRun, type Supervision } from './supervision/supervised-run.js';
import { LocalTree, type SupervisedTree } from './supervision/supervised-tree.js';
import { ProcessOutput } from './output/process-output.js';
import { type Measurement, SharedMeasurement } from './usage/shared-measurement.js';
/** Output kept per run; up to 64 KiB more may be kept. The program is paused when a reader is this far behind. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
// Copying is bound by the disk and one core, so more copies at once would only take longer.
const MAX_STAGINGS = 4;

interface Start {
  /** The request; its files are dropped once they are on disk. */
  request: StartRequest;
  readonly runId: string;
  readonly mark: string;
  readonly signal: AbortSignal | undefined;
  /** Functions that release the name, the slot and the quota of the start, when its run has ended or the start fails. */
  readonly held: (() => void)[];
  folder?: RunFolder;
  /** Copy of a detached run, which no other run executes; removed when the run has ended. */
  ownCopy?: string;
  isYielded?: boolean;
  /** Sequence number: newer requests have larger ones. */
  readonly order: number;
  /** Aborted when a newer start replaces this one. */
  readonly replaced: AbortController;
  run?: SupervisedRun;
  ports?: PortsOutcome | undefined;
  limits?: RunLimits | undefined;
}

/**
 * Runs allowed programs and reports how they ended. The creator closes the manager.
 *
 * This class is long, because each step of a start releases the resources of the earlier steps on failure.
 */
export class ProcessManager implements AsyncDisposable {
  readonly #options: CompleteOptions;
  readonly #folders: RunFolders;
  readonly #registry: RunRegistry<SupervisedRun>;
  readonly #names: RunNames<Start>;
  /** Newest start that replaces a run, by the key of the run's name. */
  readonly #replacing = new Map<string, Start>();
  readonly #ports: ExposedPorts;
  readonly #slots = new StagingSlots(MAX_STAGINGS);
  readonly #starts = new Set<Promise<unknown>>();
  readonly #measurement = new SharedMeasurement(() => this.#measureAll());
  readonly #minimal: Readonly<Record<string, string>>;
  #processEnvironment: Readonly<Record<string, string>>;
  #allowed: readonly AllowedExecutable[];
  #lastOrder = 0;
  #closing: Promise<void> | undefined;

  /** Creates the state directory. @throws ProcessError `invalidArgument`, `stateUnavailable`, `hostUnsupported`. */
  constructor(given: ProcessManagerOptions) {
    const options = completeOptions(given);
    const { host, stateDirectory, environment, limits } = options;
    const { dialect } = host;
    this.#options = options;
    this.#allowed = options.allowed;
    this.#processEnvironment = options.processEnvironment;
    host.ensurePrivateDirectory(stateDirectory);
    const temporaryDirectory = path.join(stateDirectory, 'temp');
    // On POSIX the system's temporary folder is safe to use: files in it belong to the users who made them.
    if (dialect === 'windows') host.ensurePrivateDirectory(temporaryDirectory);
    this.#minimal = minimalEnvironment({ dialect, own: environment, temporaryDirectory });
    const keyOf = (name: string): string => nameKey(name, dialect);
    this.#folders = new RunFolders(stateDirectory);
    host.ensurePrivateDirectory(this.#folders.folder);
    this.#registry = new RunRegistry(keyOf, limits.lingerMs, limits.maxProcesses);
    this.#names = new RunNames(keyOf);
    this.#ports = new ExposedPorts(options);
  }

  /**
   * Ends processes that dead daemons left running. Identifies each by the mark in its environment, by its record on
   * disk (PID and start time), or by the verified copy that it executes; never by a PID alone. Call this method before
   * the first `start`.
   *
   * @throws ProcessError `stateUnavailable`, `unknown`.
   */
  async recover(): Promise<readonly RecoveredProcess[]> {
    const { host } = this.#options;
    const copies = await findOwnCopies(this.#allowed, host);
    const executables = [
      ...stagedPathsOf(this.#allowed, host.dialect),
      ...copies.map(({ file }) => file),
    ];
    const recovered = await endLeftovers(this.#options, this.#folders, executables);
    const { records } = await this.#folders.read();
    const marks = new Set(records.map(({ run }) => run.mark));
    for (const { file, mark: beginning } of copies)
      if (![...marks].some((mark) => mark.startsWith(beginning))) await removeOwnCopy(file);
    for (const left of await removeLeftFolders(this.#options.stateDirectory, marks))
      this.#options.onEvent({ type: 'filesNotRemoved', ...left });
    return recovered;
  }

  /**
   * Makes a verified copy of an allowed program and runs it in its own process tree. Only one run per name at a time; the run
   * ends when its owner disconnects. A start takes the name only once its copy is verified, so that a client with a wrong
   * checksum cannot hold the name. A detached run takes no name, executes a copy of its own, and outlives its owner.
   *
   * @param options - The signal aborts the start and releases all its resources.
   * @throws ProcessError `invalidPath`, `pathNotAllowed`, `pathNotTrusted`, `notExecutable`, `invalidArgument`,
   * `envNotAllowed`, `argumentsNotAllowed`, `directoryNotAllowed`, `directoryNotFound`, `detachedNotAllowed`,
   * `auditUnavailable`, `notFound`, `checksumMismatch`, `digestNotPinned`, `notSigned`, `alreadyRunning`,
   * `tooManyProcesses`, `limitsNotAllowed`, `limitsUnavailable`, `filesNotAllowed`, `stagingFailed`, `portsNotOpened`,
   * `spawnFailed`, `stateUnavailable`, `aborted`, `shuttingDown`, `unknown`.
   */
  start(request: StartRequest, { signal }: Abortable = {}): Promise<ManagedProcess> {
    const start = this.#start(request, signal);
    this.#starts.add(start);
    const forget = (): unknown => this.#starts.delete(start);
    start.then(forget, forget);
    return start;
  }

  /**
   * Judges whether a program would start for a caller; starts and records nothing. Hashing waits its turn in the
   * client's queue, like the copy for a start. Never rejects.
   */
  judge(question: StartQuestion, owner: ProcessOwner): Promise<StartVerdict> {
    const { host, howToAllow } = this.#options;
    return judgeStart(question, {
      host,
      howToAllow,
      allowed: this.#allowed,
      whenFree: (work) => this.#slots.run(clientOf(owner), work),
      checkpoint: () => {
        if (!owner.disconnected.aborted) return;
        throw new ProcessError('aborted', 'cannot judge a start: the client has disconnected');
      },
    });
  }

  /**
   * Takes over a run of an earlier manager, with its name and a slot of its owner's quota. Call it after `recover`, which
   * spares runs with a living keeper.
   *
   * @param lifetime - `lease`: the run ends unless its client takes the lease within 30 s.
   * @throws ProcessError `alreadyRunning`, `tooManyProcesses`, `stateUnavailable`, `shuttingDown`, `aborted`.
   */
  adopt(
    facts: RunFacts,
    tree: SupervisedTree,
    owner: ProcessOwner,
    lifetime: Keeping['lifetime'],
  ): ManagedProcess {
    const { name, mark, path } = facts;
    const runId = randomBytes(16).toString('hex');
    const request = { path, args: [], envs: [], owner };
    const order = (this.#lastOrder += 1);
    const replaced = new AbortController();
    const start: Start = { request, runId, mark, signal: undefined, order, replaced, held: [] };
    this.#checkpoint(start);
    if (this.#registry.has(mark)) {
      const message = `cannot adopt ${quoteText(name)}: this daemon has the run already`;
      throw new ProcessError('alreadyRunning', message, { path, mark });
    }
    this.#takeSlot(start);
    try {
      if (lifetime === 'lease') start.held.push(this.#names.take(name, path, start));
      else if (isOwnCopy(facts.stagedPath, mark)) start.ownCopy = facts.stagedPath;
    } catch (error) {
      release(start);
      throw error;
    }
    const entry = facts.entry as EntryName;
    const { limits } = facts;
    const run = { ...facts, exposes: [], ports: undefined, limits, entry, runId, owner, lifetime };
    return this.#supervise(start, run, tree, true);
  }

  /** Emits the `ended` event of a run that ended while no manager existed. */
  reportEnded(
    run: RunFacts,
    exit: ProcessExit,
    figures: RunFigures,
    owner: Pick<ProcessOwner, 'runName'> = {},
  ): void {
    const { mark, name, path, stagedPath } = run;
    if (isOwnCopy(stagedPath, mark)) void removeOwnCopy(stagedPath);
    const entry = run.entry as EntryName;
    const facts = { mark, name, path, entry, runName: owner.runName };
    this.#options.onEvent({ type: 'ended', ...facts, exit, figures });
  }

  /** Applies to later starts; existing runs are unaffected. */
  setAllowed(allowed: readonly AllowedExecutable[]): void {
    this.#allowed = [...allowed];
  }

  /** Replaces the operator's variables for later starts. */
  setProcessEnvironment(environment: Readonly<Record<string, string>>): void {
    this.#processEnvironment = { ...environment };
  }

  /**
   * Returns the newest run with this name, or the run with `name.runId` if that is given. An ended run can be found for
   * at most 60 s.
   *
   * @throws ProcessError `notFound`.
   */
  find(name: RunName): ManagedProcess {
    return this.#registry.find(name);
  }

  /** Returns runs, oldest first, including ended runs that can still be found. */
  list(): readonly ManagedProcess[] {
    return this.#registry.list();
  }

  /**
   * Measures every living run. Calls share a measurement for a second, or for ten times its duration if that is
   * longer. Never rejects.
   */
  measure(): Promise<Measurement> {
    return this.#measurement.take();
  }

  #measureAll(): Promise<Measurement['runs']> {
    const living = this.#registry.list().filter(({ state }) => state.kind !== 'ended');
    return Promise.all(living.map(async (run) => ({ run, figures: await run.measure() })));
  }

  /**
   * Refuses new starts, aborts those in progress, and stops all runs with the lifetime `connection`. This takes about three
   * grace times at most. Then waits until the ports of these runs are closed, at most half a grace time. The next daemon
   * closes ports that are still open. Idempotent.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#ports.abort();
    const endAll = () => {
      const runs = this.#registry.list().filter(({ lifetime }) => lifetime === 'connection');
      return Promise.all(runs.map((run) => run.end('daemonStopping')));
    };
    await Promise.all([endAll(), Promise.allSettled([...this.#starts])]);
    // End the runs whose starts were still in progress.
    await endAll();
    await resolvesInTime(this.#ports.settle(), this.#options.graceMs / 2);
    for (const run of this.#registry.list()) this.#registry.forget(run);
  }

  async #start(request: StartRequest, signal: AbortSignal | undefined): Promise<ManagedProcess> {
    const runId = randomBytes(16).toString('hex');
    const replaced = new AbortController();
    const order = (this.#lastOrder += 1);
    const mark = markOf(runId);
    const start: Start = { request, runId, mark, signal, order, replaced, held: [] };
    try {
      const { plan, copy } = await this.#decide(start);
      try {
        const run = await this.#run(start, plan, copy.sha256);
        if (this.#reasonToGiveUp(start) !== undefined) {
          const isReplaced = replaced.signal.aborted;
          const otherwise = isReplaced ? 'replaced' : 'stopped';
          await run.end(this.#closing === undefined ? otherwise : 'daemonStopping');
          this.#checkpoint(start);
        }
        return run;
      } finally {
        // The program now runs or never will, so release the copy.
        copy.close();
      }
    } catch (error) {
      release(start);
      if (start.ownCopy !== undefined) await removeOwnCopy(start.ownCopy);
      await this.#removeFolder(start);
      // A run that has begun forgets its record itself, unless its processes do not end.
      if (start.run === undefined) this.#folders.forget(start.mark);
      throw error;
    } finally {
      for (const [key, newest] of this.#replacing)
        if (newest === start) this.#replacing.delete(key);
    }
  }

  /** When this settles, the audit log has the decision. */
  async #decide(start: Start): Promise<{ readonly plan: StartPlan; readonly copy: StagedBinary }> {
    const { onDecision } = this.#options;
    const { request, mark } = start;
    let admission: Admission | undefined;
    let plan: StartPlan | undefined;
    let copy: StagedBinary | undefined;
    try {
      this.#checkpoint(start);
      admission = this.#admit(request);
      plan = this.#plan(start, admission);
      // Only now, because a slot may cost another client a run.
      this.#takeSlot(start);
      this.#takeFileBytes(start, plan);
      copy = await this.#stage(plan, start);
      const limits = (start.limits = this.#limits(plan));
      const ports = (start.ports = this.#ports.decide(request.exposes ?? []));
      const { sha256 } = copy;
      await onDecision(startDecision(request, mark, { admission, plan, sha256, ports, limits }));
      return { plan, copy };
    } catch (error) {
      copy?.close();
      const refusal = asProcessError(error);
      await onDecision(startDecision(request, mark, { admission, plan, refusal }));
      throw refusal;
    }
  }

  #limits({ limits, path }: StartPlan): RunLimits | undefined {
    if (limits === undefined) return undefined;
    const { host } = this.#options;
    if (host.limitMeans !== undefined) return { ...limits, means: host.limitMeans(limits) };
    const message = `cannot run ${quoteText(path)} with limits: this host does not support limits`;
    throw new ProcessError('limitsUnavailable', message, { path });
  }

  #takeSlot(start: Start): void {
    const end = (): void => {
      start.isYielded = true;
      void start.run?.end('yielded');
    };
    const leave = this.#options.slots.take(start.request.owner, end);
    if (leave === undefined) throw hasItsShare();
    start.held.push(leave);
  }

  /** Reserves the entry's maximum of file bytes. Later changes to the files then need no further quota. */
  #takeFileBytes(start: Start, { rule }: StartPlan): void {
    const { owner, files = [] } = start.request;
    if (files.length === 0 || rule.files === undefined) return;
    const leave = this.#options.slots.takeFileBytes(owner, rule.files.maxBytes);
    if (leave === undefined) throw hasItsShare('of the bytes of files');
    start.held.push(leave);
  }

  #admit(request: StartRequest): Admission {
    const { host, howToAllow } = this.#options;
    const allowed = request.grantedBy ? [request.grantedBy] : this.#allowed;
    return admitStart(request, { allowed, host, howToAllow });
  }

  #plan({ request, mark }: Start, admission: Admission): StartPlan {
    const { stateDirectory, host } = this.#options;
    const { dialect } = host;
    const hasFiles = (request.files ?? []).length > 0;
    const files = hasFiles ? { [FILES_VARIABLE]: runFolderOf(stateDirectory, mark) } : {};
    const base = [this.#minimal, this.#processEnvironment, files];
    const plan = planStart(request, admission, base, dialect);
    // Refuse a taken name before the costly copy; `#stage` checks again.
    if (!isUnheld(request)) this.#names.assertFree(plan.name, plan.path, request.replace);
    const named = request.name === undefined ? undefined : markOfName(request.name);
    const ofCopy = isUnheld(request) ? mark : named;
    if (ofCopy === undefined) return plan;
    return { ...plan, stagedPath: ownCopyOf(plan.stagedPath, ofCopy) };
  }

  /** Takes the name only after the digest matched, so that a client with a wrong checksum cannot block the name. */
  async #stage(plan: StartPlan, start: Start): Promise<StagedBinary> {
    const { host, readSignature } = this.#options;
    const checkpoint = (): void => this.#checkpoint(start);
    await host.assertTrustedFile(plan.path);
    await host.assertProgram?.(plan.path);
    await assertDirectory(plan.directory);
    if (plan.isElsewhere) await host.assertTrustedDirectory(plan.directory);
    const { owner, replace = false } = start.request;
    const isNamed = !isUnheld(start.request);
    if (replace && isNamed) await this.#replace(plan, start);
    return this.#slots.run(clientOf(owner), async () => {
      checkpoint();
      if (isNamed) this.#names.assertFree(plan.name, plan.path);
      const copy = await copyVerified({
        source: plan.path,
        target: plan.stagedPath,
        expected: plan.digest,
        pins: plan.rule.sha256,
        signerRule: plan.rule.signerRule,
        readSignature,
        maxBytes: MAX_EXECUTABLE_BYTES,
        checkpoint,
        hold: host.holdFile?.bind(host),
      });
      try {
        if (isNamed) {
          start.held.push(this.#names.take(plan.name, plan.path, start));
          await endStaleCopies(this.#options, plan.stagedPath);
        } else start.ownCopy = plan.stagedPath;
        return await copy.place();
      } catch (error) {
        await copy.discard();
        throw error;
      }
    });
  }

  /** Checks the client's digest, then ends the run with this name. Gives up when a newer start replaces this one. */
  async #replace({ name, path, digest, rule }: StartPlan, start: Start): Promise<void> {
    const { owner } = start.request;
    const checkpoint = (): void => this.#checkpoint(start);
    if (this.#names.holderOf(name) !== undefined) {
      const wanted = { source: path, expected: digest, pins: rule.sha256 };
      await this.#slots.run(clientOf(owner), () => verifyBytes(wanted, checkpoint));
    }
    const key = nameKey(name, this.#options.host.dialect);
    const [older, newest] = inOrder(start, this.#replacing.get(key) ?? start);
    if (older !== newest) older.replaced.abort();
    this.#replacing.set(key, newest);
    for (;;) {
      checkpoint();
      this.#names.assertFree(name, path, true);
      const taken = this.#names.holderOf(name);
      if (taken === undefined) return;
      const { holder } = taken;
      if (holder.order > start.order) start.replaced.abort();
      checkpoint();
      if (holder.run === undefined) holder.replaced.abort();
      else await holder.run.replace(owner.id);
      const over = new AbortController();
      const { replaced, signal } = start;
      const signals = [owner.disconnected, replaced.signal, ...(signal ? [signal] : [])];
      await Promise.race([taken.released, firstAborted(signals, over.signal)]);
      over.abort();
    }
  }

  async #run(start: Start, plan: StartPlan, sha256: string): Promise<SupervisedRun> {
    const { onEvent } = this.#options;
    const { runId, mark, signal } = start;
    const { owner, exposes = [] } = start.request;
    const { name, path, entry, stagedPath } = plan;
    const signals = [owner.disconnected, ...(signal === undefined ? [] : [signal])];
    const { ports, limits } = start;
    await this.#fillFolder(start, plan);
    await this.#ports.open({ mark, path, entry }, { ports: exposes, outcome: ports }, signals);
    const kept = { name, mark, path, entry, stagedPath, sha256, limits };
    const { tree, lifetime } = await this.#spawn(plan, kept, start.request);
    // Do not await between spawn and record, so that the next daemon finds the run if this daemon is killed.
    const { pid, startToken, supervisor } = tree;
    const record = { supervisor, pid, startToken, run: { mark, name, path } };
    let unrecorded: unknown;
    try {
      if (lifetime === 'connection') this.#folders.write(record);
    } catch (error) {
      unrecorded = error;
    }
    const facts = { ...kept, runId, owner, exposes, ports, lifetime };
    const run = this.#supervise(start, facts, tree, false);
    onEvent({ type: 'started', mark, name, path, entry, pid, runName: owner.runName });
    if (unrecorded !== undefined) {
      await run.end('hostFailed');
      this.#registry.forget(run);
      throw asProcessError(unrecorded);
    }
    return run;
  }

  /** Writes the files to the run's folder, then drops their content from memory. */
  async #fillFolder(start: Start, { rule }: StartPlan): Promise<void> {
    const { files = [], ...request } = start.request;
    if (files.length === 0 || rule.files === undefined) return;
    const { stateDirectory, host } = this.#options;
    start.folder = new RunFolder(runFolderOf(stateDirectory, start.mark), host, rule.files);
    await start.folder.fill(files);
    start.request = request;
  }

  async #removeFolder({ folder, mark }: Start): Promise<void> {
    const error = await folder?.remove();
    if (error !== undefined) this.#options.onEvent({ type: 'filesNotRemoved', mark, error });
  }

  #supervise(
    start: Start,
    run: Supervision['run'],
    tree: SupervisedTree,
    isAdopted: boolean,
  ): SupervisedRun {
    const supervised = new SupervisedRun({
      ...this.#options,
      leaseTimeoutMs: this.#options.limits.leaseTimeoutMs,
      run,
      tree,
      folder: start.folder,
      isAdopted,
      onEnded: (ended, exit, figures) => {
        release(start);
        if (tree.isGone && start.ownCopy !== undefined) void removeOwnCopy(start.ownCopy);
        if (tree.isGone && run.lifetime === 'connection') this.#folders.forget(run.mark);
        this.#onEnded(ended, exit, figures);
      },
      onReleased: (released) => this.#forgetIfDone(released),
    });
    start.run = supervised;
    this.#registry.add(supervised, run.lifetime !== 'detached');
    return supervised;
  }

  async #spawn(
    plan: StartPlan,
    run: RunFacts,
    request: StartRequest,
  ): Promise<{ readonly tree: SupervisedTree; readonly lifetime: Lifetime }> {
    const { host, onEvent, graceMs } = this.#options;
    const { firstReaderMs } = this.#options.limits;
    const { keeping } = request;
    const { path, entry, stagedPath, rule, args, env, directory, limits } = plan;
    const { mark } = run;
    try {
      const command = {
        mark,
        lineage: lineageOf(this.#options.stateDirectory),
        file: stagedPath,
        argv0: (rule.argv0 ?? 'copy') === 'listed' ? path : stagedPath,
        args,
        env,
        directory,
        mayBreakAway: rule.mayBreakAway ?? false,
        limits,
        stop: stopRequest(rule),
      };
      // `planStart` refused a detached run whose entry does not grant it.
      if (keeping !== undefined && rule.detached !== undefined) {
        const kept = await keeping.start(command, run, rule.detached);
        if (kept !== undefined) return { tree: kept, lifetime: keeping.lifetime };
      }
      // Never start a program that the next daemon could not find after a crash. A keeper records what it keeps.
      const { name } = run;
      this.#folders.reserve({ supervisor: host.daemon, run: { mark, name, path } });
      const tree = new LocalTree(await host.start(command), {
        supervisor: host.daemon,
        graceMs,
        log: (source) => new ProcessOutput(MAX_BUFFERED_BYTES, source, firstReaderMs),
      });
      return { tree, lifetime: 'connection' };
    } catch (error) {
      const { runName } = request.owner;
      onEvent({ type: 'startFailed', mark, path, entry, error, runName });
      this.#ports.close(mark);
      throw asProcessError(error);
    }
  }

  #onEnded(run: SupervisedRun, exit: ProcessExit, figures: RunFigures): void {
    const { name, mark, path, entry } = run;
    this.#ports.close(mark);
    const facts = { mark, name, path, entry, runName: run.owner.runName };
    this.#options.onEvent({ type: 'ended', ...facts, exit, figures });
    this.#registry.linger(run);
    this.#forgetIfDone(run);
  }

  #forgetIfDone(run: SupervisedRun): void {
    if (run.released && run.state.kind === 'ended') this.#registry.forget(run);
  }

  #checkpoint(start: Start): void {
    const reason = this.#reasonToGiveUp(start);
    if (reason !== undefined) throw reason;
  }

  #reasonToGiveUp({ request, signal, isYielded, replaced }: Start): ProcessError | undefined {
    if (this.#closing !== undefined) {
      return new ProcessError('shuttingDown', 'cannot start a run: the daemon is stopping');
    }
    if (request.owner.disconnected.aborted) {
      return new ProcessError('aborted', 'cannot start a run: the client has disconnected');
    }
    if (isYielded === true) return hasItsShare();
    if (replaced.signal.aborted) {
      const message = `cannot start ${quoteText(request.path)}: a newer start replaced it`;
      return new ProcessError('alreadyRunning', message, { path: request.path });
    }
    if (signal?.aborted === true) {
      const message = 'cannot start a run: the client has cancelled it';
      return new ProcessError('aborted', message, { cause: signal.reason });
    }
    return undefined;
  }
}

/** A detached run takes no name here, because names of detached runs belong to their owners. */
function isUnheld({ keeping }: Pick<StartRequest, 'keeping'>): boolean {
  return keeping?.lifetime === 'detached';
}

/** Marks the copy of a named run, which its restarts share. */
function markOfName(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

function inOrder(one: Start, other: Start): readonly [older: Start, newer: Start] {
  return one.order < other.order ? [one, other] : [other, one];
}

function hasItsShare(what = 'of runs'): ProcessError {
  const message = `cannot start a run for this client: it has used its share ${what}`;
  return new ProcessError('tooManyProcesses', message, { rule: 'A55 processes of one client' });
}

function release({ held }: Start): void {
  for (const leave of held.splice(0)) leave();
}

/** Key of the staging queue: the client if the system identifies it, else the connection. */
function clientOf({ client, id }: ProcessOwner): string {
  return client?.key ?? id;
}

/** Creates a manager and its state directory. @throws ProcessError `invalidArgument`, `stateUnavailable`, `hostUnsupported`. */
export function createProcessManager(options: ProcessManagerOptions): ProcessManager {
  return new ProcessManager(options);
}
