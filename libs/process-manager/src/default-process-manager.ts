import { randomBytes } from 'node:crypto';

import { startDecision } from './decision-record.js';
import { endStaleCopies, recoverProcesses } from './supervision/end-leftovers.js';
import type { AllowedExecutable } from './policy/executable-policy.js';
import type { ManagedProcess } from './supervision/managed-process.js';
import type { RecoveredProcess } from './manager-event.js';
import type { CompleteOptions } from './manager-options.js';
import { ProcessError } from './process-error.js';
import type { HostProcess } from './host/process-host.js';
import type { ProcessManager, StartOptions } from './process-manager.js';
import { processNameKey } from './policy/process-name.js';
import { stagedPathsOf } from './policy/staged-paths.js';
import { lineageOf } from './supervision/lineage.js';
import { quoteText } from './quote-text.js';
import { RunRecords } from './supervision/run-records.js';
import { RunRegistry, type RunName } from './supervision/run-registry.js';
import { stageBinary, type StagedBinary } from './staging/staged-binary.js';
import { StagingSlots } from './staging/staging-slots.js';
import { planStart, type StartPlan, type StartRequest } from './start-request.js';
import { SupervisedProcess } from './supervision/supervised-process.js';
import { assertDirectory } from './staging/working-directory.js';
import { ExposedPorts } from './supervision/exposed-ports.js';
import { settlesWithin } from './supervision/settles-within.js';

// Copying is work for the disk and for one core; more at once only take longer.
const MAX_STAGINGS = 4;

/** The right of one start to use a name. */
interface Reservation {
  readonly key: string;
  readonly path: string;
}

/** The order of things: policy, trust, leftovers, copy, audit, run, record, supervision. */
export class DefaultProcessManager implements ProcessManager {
  readonly #options: CompleteOptions;
  readonly #records: RunRecords;
  readonly #registry: RunRegistry<SupervisedProcess>;
  readonly #ports: ExposedPorts;
  readonly #slots = new StagingSlots(MAX_STAGINGS);
  /** Every name that is starting or running, by key. */
  readonly #taken = new Map<string, Reservation>();
  readonly #starts = new Set<Promise<unknown>>();
  readonly #lineage: string;
  #allowed: readonly AllowedExecutable[];
  #closing: Promise<void> | undefined;

  constructor(options: CompleteOptions) {
    const { onDecision, onEvent } = options;
    this.#options = {
      ...options,
      onDecision: (record) => {
        try {
          onDecision(record);
        } catch (cause) {
          const message = `cannot audit the decision: ${String(cause)}`;
          throw new ProcessError('unknown', message, { cause });
        }
      },
      // In a microtask of its own, so that what a listener throws cannot stop a supervision half-way.
      onEvent: (event) => queueMicrotask(() => onEvent(event)),
    };
    this.#ports = new ExposedPorts(this.#options);
    this.#allowed = options.allowed;
    options.host.ensurePrivateDirectory(options.stateDirectory);
    this.#records = new RunRecords(options.stateDirectory);
    this.#lineage = lineageOf(options.stateDirectory);
    this.#registry = new RunRegistry(
      (name) => processNameKey(name, options.host.dialect),
      options.lingerMs,
      options.maxProcesses,
    );
  }

  recover(): Promise<readonly RecoveredProcess[]> {
    const { host } = this.#options;
    const stagedPaths = stagedPathsOf(this.#allowed, host.dialect);
    return recoverProcesses(this.#options, this.#records, stagedPaths, this.#lineage);
  }

  start(request: StartRequest, { signal }: StartOptions = {}): Promise<ManagedProcess> {
    const start = this.#start(request, signal);
    this.#starts.add(start);
    const forget = (): unknown => this.#starts.delete(start);
    start.then(forget, forget);
    return start;
  }

  setAllowed(allowed: readonly AllowedExecutable[]): void {
    this.#allowed = [...allowed];
  }

  find(name: RunName): ManagedProcess {
    return this.#registry.find(name);
  }

  list(): readonly ManagedProcess[] {
    return this.#registry.list();
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#ports.abort();
    const stopAll = () =>
      Promise.all(this.#registry.list().map((run) => run.end('daemonStopping')));
    await Promise.all([stopAll(), Promise.allSettled([...this.#starts])]);
    // What had just been started when the door closed.
    await stopAll();
    await settlesWithin(this.#ports.settle(), this.#options.graceMs / 2);
    for (const run of this.#registry.list()) this.#registry.forget(run);
  }

  async #start(request: StartRequest, signal: AbortSignal | undefined): Promise<ManagedProcess> {
    const { host, onDecision } = this.#options;
    const runId = randomBytes(16).toString('hex');
    let plan: StartPlan | undefined;
    let reservation: Reservation | undefined;
    let staged: StagedBinary | undefined;
    try {
      try {
        this.#checkpoint(request, signal);
        const { environment } = this.#options;
        plan = planStart(request, { allowed: this.#allowed, environment, dialect: host.dialect });
        reservation = this.#reserve(plan);
        staged = await this.#prepare(plan, () => this.#checkpoint(request, signal));
        onDecision(startDecision(request, runId, { plan, sha256: staged.sha256 }));
      } catch (error) {
        const refusal = asProcessError(error);
        onDecision(startDecision(request, runId, { plan, refusal }));
        throw refusal;
      }
      const { disconnected } = request.owner;
      const abandoned =
        signal === undefined ? disconnected : AbortSignal.any([disconnected, signal]);
      const { sha256 } = staged;
      const run = await this.#run(request, plan, reservation, { runId, sha256, abandoned });
      if (this.#abandoned(request, signal) !== undefined) {
        await run.end(this.#closing === undefined ? 'stopped' : 'daemonStopping');
        this.#checkpoint(request, signal);
      }
      return run;
    } catch (error) {
      this.#release(reservation);
      throw error;
    } finally {
      // It runs, or it never will.
      staged?.close();
    }
  }

  /** Takes the name before anything waits, so that two starts cannot both pass. */
  #reserve({ name, path }: StartPlan): Reservation {
    const { host, maxProcesses } = this.#options;
    const key = processNameKey(name, host.dialect);
    const holder = this.#taken.get(key);
    if (holder !== undefined) {
      const message = `cannot start ${quoteText(path)}: ${quoteText(name)} is already running from ${quoteText(holder.path)}`;
      throw new ProcessError('alreadyRunning', message, { path: holder.path });
    }
    if (this.#taken.size >= maxProcesses) {
      const message = `cannot start ${quoteText(path)}: ${maxProcesses} processes run already`;
      throw new ProcessError('tooManyProcesses', message, { path });
    }
    const reservation = { key, path };
    this.#taken.set(key, reservation);
    return reservation;
  }

  /** Frees the name, unless somebody else has it by now. */
  #release(reservation: Reservation | undefined): void {
    if (reservation === undefined || this.#taken.get(reservation.key) !== reservation) return;
    this.#taken.delete(reservation.key);
  }

  async #prepare(plan: StartPlan, checkpoint: () => void): Promise<StagedBinary> {
    const { host, maxExecutableBytes } = this.#options;
    await host.assertTrustedFile(plan.path);
    await assertDirectory(plan.directory);
    await endStaleCopies(this.#options, plan.stagedPath);
    return this.#slots.run(() =>
      stageBinary({
        source: plan.path,
        target: plan.stagedPath,
        expected: plan.digest,
        pins: plan.rule.sha256,
        maxBytes: maxExecutableBytes,
        checkpoint,
        hold: host.holdFile?.bind(host),
      }),
    );
  }

  async #run(
    { owner, exposes = [] }: StartRequest,
    plan: StartPlan,
    reservation: Reservation,
    {
      runId,
      sha256,
      abandoned,
    }: { readonly runId: string; readonly sha256: string; readonly abandoned: AbortSignal },
  ): Promise<SupervisedProcess> {
    const { host, onEvent } = this.#options;
    await this.#ports.open(runId, exposes, abandoned);
    const { name, path, stagedPath, args, env, directory } = plan;
    let hostProcess: HostProcess;
    try {
      const lineage = this.#lineage;
      const mayBreakAway = plan.rule.mayBreakAway ?? false;
      const program = { file: stagedPath, argv0: path, args, env, directory };
      hostProcess = await host.start({ runId, lineage, ...program, mayBreakAway });
    } catch (error) {
      onEvent({ type: 'startFailed', runId, error });
      this.#ports.close(runId);
      throw asProcessError(error);
    }
    // From here to the record nothing waits: a daemon killed at any later moment finds the run again.
    const { pid, startToken } = hostProcess;
    let unrecorded: unknown;
    try {
      this.#records.write({ runId, pid, startToken, name, path, daemon: host.daemon });
    } catch (error) {
      unrecorded = error;
    }
    const run = new SupervisedProcess({
      ...this.#options,
      run: { name, runId, path, stagedPath, sha256, owner, exposes },
      hostProcess,
      onEnded: (ended, treeGone) => {
        this.#release(reservation);
        this.#onEnded(ended, treeGone);
      },
      onReleased: (released) => this.#forgetIfDone(released),
    });
    this.#registry.add(run);
    onEvent({ type: 'started', runId, name, path, pid });
    if (unrecorded !== undefined) {
      await run.end('hostFailed');
      this.#registry.forget(run);
      throw asProcessError(unrecorded);
    }
    return run;
  }

  #onEnded(run: SupervisedProcess, treeGone: boolean): void {
    const { name, runId, state } = run;
    this.#ports.close(runId);
    if (treeGone) this.#records.remove(runId);
    if (state.kind === 'ended')
      this.#options.onEvent({ type: 'ended', runId, name, exit: state.exit });
    this.#registry.linger(run);
    this.#forgetIfDone(run);
  }

  #forgetIfDone(run: SupervisedProcess): void {
    if (run.released && run.state.kind === 'ended') this.#registry.forget(run);
  }

  #checkpoint(request: StartRequest, signal: AbortSignal | undefined): void {
    const abandoned = this.#abandoned(request, signal);
    if (abandoned !== undefined) throw abandoned;
  }

  #abandoned({ owner }: StartRequest, signal: AbortSignal | undefined): ProcessError | undefined {
    if (this.#closing !== undefined) {
      return new ProcessError('shuttingDown', 'cannot start a process: the daemon is stopping');
    }
    if (owner.disconnected.aborted) {
      return new ProcessError('aborted', 'start given up: the client has disconnected');
    }
    if (signal?.aborted === true) {
      return new ProcessError('aborted', 'start given up: the client has cancelled it');
    }
    return undefined;
  }
}

function asProcessError(error: unknown): ProcessError {
  if (error instanceof ProcessError) return error;
  const message = `cannot start the process: ${String(error)}`;
  return new ProcessError('unknown', message, { cause: error });
}
