import { randomBytes } from 'node:crypto';
import path from 'node:path';

import { startDecision } from './decision-record.js';
import { endStaleCopies, recoverProcesses } from './supervision/end-leftovers.js';
import type { AllowedExecutable } from './policy/executable-policy.js';
import { markOf } from './host/run-marker.js';
import type { ManagedProcess, ProcessOwner } from './supervision/managed-process.js';
import type { RecoveredProcess } from './manager-event.js';
import type { CompleteOptions } from './manager-options.js';
import { ProcessError } from './process-error.js';
import type { HostProcess } from './host/process-host.js';
import type { ProcessManager, StartOptions } from './process-manager.js';
import { minimalEnvironment } from './policy/minimal-environment.js';
import { processNameKey } from './policy/process-name.js';
import { stagedPathsOf } from './policy/staged-paths.js';
import { ClientQuota } from './supervision/client-quota.js';
import { lineageOf } from './supervision/lineage.js';
import { quoteText } from './quote-text.js';
import { RunRecords } from './supervision/run-records.js';
import { RunRegistry, type RunName } from './supervision/run-registry.js';
import { copyVerified, type StagedBinary } from './staging/staged-binary.js';
import { StagingSlots } from './staging/staging-slots.js';
import { planStart, type StartPlan, type StartRequest } from './start-request.js';
import { SupervisedProcess } from './supervision/supervised-process.js';
import { assertDirectory } from './staging/working-directory.js';
import { ExposedPorts } from './supervision/exposed-ports.js';
import { settlesWithin } from './supervision/settles-within.js';

// A start that waits keeps its request, of up to 1 MiB.
const MAX_PENDING_STARTS = 256;
// Copying is work for the disk and for one core; more at once only take longer.
const MAX_STAGINGS = 4;

/** The right of one start to use a name. */
interface Reservation {
  readonly key: string;
  readonly path: string;
}

/** What a start has taken and gives back when its run has ended, or it fails. */
interface Claims {
  name: Reservation | undefined;
  /** Gives the place of the client back. */
  place: (() => void) | undefined;
}

/** The order of things: policy, trust, copy, name, leftovers, audit, run, record, supervision. */
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
  readonly #minimal: Readonly<Record<string, string>>;
  readonly #quota: ClientQuota;
  #processEnvironment: Readonly<Record<string, string>>;
  #allowed: readonly AllowedExecutable[];
  #closing: Promise<void> | undefined;

  constructor(options: CompleteOptions) {
    const { onDecision, onEvent } = options;
    this.#options = {
      ...options,
      onDecision: (record) => {
        try {
          const recorded = onDecision(record);
          return recorded instanceof Promise ? recorded.catch(unaudited) : undefined;
        } catch (cause) {
          return unaudited(cause);
        }
      },
      // In a microtask of its own, so that what a listener throws cannot stop a supervision half-way.
      onEvent: (event) => queueMicrotask(() => onEvent(event)),
    };
    this.#ports = new ExposedPorts(this.#options);
    this.#allowed = options.allowed;
    this.#processEnvironment = options.processEnvironment;
    this.#quota = new ClientQuota(options.maxRunsPerClient);
    const { dialect } = options.host;
    options.host.ensurePrivateDirectory(options.stateDirectory);
    const temporaryDirectory = path.join(options.stateDirectory, 'temp');
    // Elsewhere the one of the system will do: what is in it belongs to who made it.
    if (dialect === 'windows') options.host.ensurePrivateDirectory(temporaryDirectory);
    this.#minimal = minimalEnvironment({ dialect, own: options.environment, temporaryDirectory });
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

  setProcessEnvironment(environment: Readonly<Record<string, string>>): void {
    this.#processEnvironment = { ...environment };
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
    const { onDecision } = this.#options;
    const runId = randomBytes(16).toString('hex');
    const mark = markOf(runId);
    const claims: Claims = { name: undefined, place: undefined };
    let plan: StartPlan | undefined;
    let staged: StagedBinary | undefined;
    try {
      try {
        this.#checkpoint(request, signal);
        claims.place = this.#admit(request);
        plan = this.#plan(request);
        staged = await this.#prepare(plan, request, claims, () =>
          this.#checkpoint(request, signal),
        );
        await onDecision(startDecision(request, mark, { plan, sha256: staged.sha256 }));
      } catch (error) {
        const refusal = asProcessError(error);
        await onDecision(startDecision(request, mark, { plan, refusal }));
        throw refusal;
      }
      const { disconnected } = request.owner;
      const abandoned =
        signal === undefined ? disconnected : AbortSignal.any([disconnected, signal]);
      const { sha256 } = staged;
      const run = await this.#run(request, plan, claims, { runId, mark, sha256, abandoned });
      if (this.#abandoned(request, signal) !== undefined) {
        await run.end(this.#closing === undefined ? 'stopped' : 'daemonStopping');
        this.#checkpoint(request, signal);
      }
      return run;
    } catch (error) {
      this.#release(claims);
      throw error;
    } finally {
      // It runs, or it never will.
      staged?.close();
    }
  }

  /** Takes a place of the client, before anything is done for it. */
  #admit({ owner }: StartRequest): () => void {
    if (this.#starts.size >= MAX_PENDING_STARTS) {
      const message = `cannot start a process: ${MAX_PENDING_STARTS} are being started already`;
      throw new ProcessError('tooManyProcesses', message);
    }
    return this.#quota.take(clientOf(owner));
  }

  #plan(request: StartRequest): StartPlan {
    const { dialect } = this.#options.host;
    const base = [this.#minimal, this.#processEnvironment];
    const plan = planStart(request, { allowed: this.#allowed, base, dialect });
    // What is refused later would be refused for the same reason after the copy was made.
    this.#assertFree(plan);
    return plan;
  }

  #assertFree({ name, path }: StartPlan): void {
    const { host, maxProcesses } = this.#options;
    const holder = this.#taken.get(processNameKey(name, host.dialect));
    if (holder !== undefined) {
      const message = `cannot start ${quoteText(path)}: ${quoteText(name)} is already running from ${quoteText(holder.path)}`;
      throw new ProcessError('alreadyRunning', message, { path: holder.path });
    }
    if (this.#taken.size >= maxProcesses) {
      const message = `cannot start ${quoteText(path)}: ${maxProcesses} processes run already`;
      throw new ProcessError('tooManyProcesses', message, { path });
    }
  }

  /** Takes the name without waiting for anything, so that two starts cannot both pass. */
  #reserve(plan: StartPlan): Reservation {
    this.#assertFree(plan);
    const key = processNameKey(plan.name, this.#options.host.dialect);
    const reservation = { key, path: plan.path };
    this.#taken.set(key, reservation);
    return reservation;
  }

  /** Frees the name, unless somebody else has it by now, and the place of the client. */
  #release({ name, place }: Claims): void {
    place?.();
    if (name !== undefined && this.#taken.get(name.key) === name) this.#taken.delete(name.key);
  }

  /**
   * Checks all that can be checked, takes the name, and gives the copy the place in which it runs. Until the bytes are known to
   * be the right ones nothing is taken: whoever asks with a wrong checksum stands in nobody's way.
   */
  async #prepare(
    plan: StartPlan,
    { owner }: StartRequest,
    claims: Claims,
    checkpoint: () => void,
  ): Promise<StagedBinary> {
    const { host, maxExecutableBytes } = this.#options;
    await host.assertTrustedFile(plan.path);
    await assertDirectory(plan.directory);
    if (plan.isElsewhere) await host.assertTrustedDirectory(plan.directory);
    return this.#slots.run(clientOf(owner), async () => {
      checkpoint();
      this.#assertFree(plan);
      const copy = await copyVerified({
        source: plan.path,
        target: plan.stagedPath,
        expected: plan.digest,
        pins: plan.rule.sha256,
        maxBytes: maxExecutableBytes,
        checkpoint,
        hold: host.holdFile?.bind(host),
      });
      try {
        claims.name = this.#reserve(plan);
        await endStaleCopies(this.#options, plan.stagedPath);
        return await copy.place();
      } catch (error) {
        await copy.discard();
        throw error;
      }
    });
  }

  async #run(
    { owner, exposes = [] }: StartRequest,
    plan: StartPlan,
    claims: Claims,
    {
      runId,
      mark,
      sha256,
      abandoned,
    }: {
      readonly runId: string;
      readonly mark: string;
      readonly sha256: string;
      readonly abandoned: AbortSignal;
    },
  ): Promise<SupervisedProcess> {
    const { host, onEvent } = this.#options;
    await this.#ports.open(mark, exposes, abandoned);
    const { name, path, stagedPath, args, env, directory } = plan;
    let hostProcess: HostProcess;
    try {
      const lineage = this.#lineage;
      const mayBreakAway = plan.rule.mayBreakAway ?? false;
      const argv0 = plan.rule.argv0 === 'listed' ? path : stagedPath;
      const program = { file: stagedPath, argv0, args, env, directory };
      hostProcess = await host.start({ mark, lineage, ...program, mayBreakAway });
    } catch (error) {
      onEvent({ type: 'startFailed', mark, error });
      this.#ports.close(mark);
      throw asProcessError(error);
    }
    // From here to the record nothing waits: a daemon killed at any later moment finds the run again.
    const { pid, startToken } = hostProcess;
    let unrecorded: unknown;
    try {
      this.#records.write({ mark, pid, startToken, name, path, daemon: host.daemon });
    } catch (error) {
      unrecorded = error;
    }
    const run = new SupervisedProcess({
      ...this.#options,
      run: { name, runId, mark, path, stagedPath, sha256, owner, exposes },
      hostProcess,
      onEnded: (ended, treeGone) => {
        this.#release(claims);
        this.#onEnded(ended, treeGone);
      },
      onReleased: (released) => this.#forgetIfDone(released),
    });
    this.#registry.add(run);
    onEvent({ type: 'started', mark, name, path, pid });
    if (unrecorded !== undefined) {
      await run.end('hostFailed');
      this.#registry.forget(run);
      throw asProcessError(unrecorded);
    }
    return run;
  }

  #onEnded(run: SupervisedProcess, treeGone: boolean): void {
    const { name, mark, state } = run;
    this.#ports.close(mark);
    if (treeGone) this.#records.remove(mark);
    if (state.kind === 'ended')
      this.#options.onEvent({ type: 'ended', mark, name, exit: state.exit });
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

/** Whom a quota counts: who is behind the connection where that is known. */
function clientOf({ client, id }: ProcessOwner): string {
  return client?.key ?? id;
}

function unaudited(cause: unknown): never {
  const found = cause instanceof Error ? cause.message : String(cause);
  throw new ProcessError('auditUnavailable', `cannot record the decision: ${found}`, { cause });
}

function asProcessError(error: unknown): ProcessError {
  if (error instanceof ProcessError) return error;
  const message = `cannot start the process: ${String(error)}`;
  return new ProcessError('unknown', message, { cause: error });
}
