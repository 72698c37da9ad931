import type { AllowedExecutable } from './policy/executable-policy.js';
import type { StartQuestion, StartVerdict } from './judge-start.js';
import type {
  ManagedProcess,
  ProcessExit,
  ProcessOwner,
  RecoveredProcess,
  RunFigures,
} from './supervision/managed-process.js';
import type { RunName } from './supervision/run-registry.js';
import type { Keeping, RunFacts, StartRequest } from './start-request.js';
import type { SupervisedTree } from './supervision/supervised-tree.js';
import type { Measurement } from './usage/shared-measurement.js';

/** Options of {@link ProcessManager.start}. */
export interface StartOptions {
  /** Aborts the start and releases all its resources. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs allowed programs and reports how they ended. The creator closes the manager. */
export interface ProcessManager extends AsyncDisposable {
  /**
   * Ends processes that dead daemons left running. Identifies each by the mark in its environment, by its record on
   * disk (PID and start time), or by the verified copy that it executes; never by a PID alone. Call this method before
   * the first `start`.
   *
   * @throws ProcessError `stateUnavailable`, `unknown`.
   */
  recover(): Promise<readonly RecoveredProcess[]>;
  /**
   * Makes a verified copy of an allowed program and runs it in its own process tree. Only one run per name at a time; the run
   * ends when its owner disconnects. A start takes the name only once its copy is verified, so that a client with a wrong
   * checksum cannot hold the name. A detached run takes no name, executes a copy of its own, and outlives its owner.
   *
   * @throws ProcessError `invalidPath`, `pathNotAllowed`, `pathNotTrusted`, `notExecutable`, `invalidArgument`,
   * `envNotAllowed`, `argumentsNotAllowed`, `directoryNotAllowed`, `directoryNotFound`, `detachedNotAllowed`,
   * `auditUnavailable`, `notFound`, `checksumMismatch`, `digestNotPinned`, `notSigned`, `alreadyRunning`,
   * `tooManyProcesses`, `limitsNotAllowed`, `limitsUnavailable`, `filesNotAllowed`, `stagingFailed`, `portsNotOpened`,
   * `spawnFailed`, `stateUnavailable`, `aborted`, `shuttingDown`, `unknown`.
   */
  start(request: StartRequest, options?: StartOptions): Promise<ManagedProcess>;
  /**
   * Judges whether a program would start for a caller; starts and records nothing. Hashing waits its turn in the
   * client's queue, like the copy for a start. Never rejects.
   */
  judge(question: StartQuestion, owner: ProcessOwner): Promise<StartVerdict>;
  /**
   * Takes over a run of an earlier manager, with its name and a slot of its owner's quota. Call it after `recover`, which
   * spares runs with a living keeper.
   *
   * @param lifetime - `lease`: the run ends unless its client takes the lease within 30 s.
   * @throws ProcessError `alreadyRunning`, `tooManyProcesses`, `stateUnavailable`, `shuttingDown`, `aborted`.
   */
  adopt(
    run: RunFacts,
    tree: SupervisedTree,
    owner: ProcessOwner,
    lifetime: Keeping['lifetime'],
  ): ManagedProcess;
  /** Emits the `ended` event of a run that ended while no manager existed. */
  reportEnded(
    run: RunFacts,
    exit: ProcessExit,
    figures: RunFigures,
    owner?: Pick<ProcessOwner, 'runName'>,
  ): void;
  /** Applies to later starts; existing runs are unaffected. */
  setAllowed(allowed: readonly AllowedExecutable[]): void;
  /** Replaces the operator's variables for later starts. */
  setProcessEnvironment(environment: Readonly<Record<string, string>>): void;
  /**
   * Returns the newest run with this name, or the run with `name.runId` if that is given. An ended run can be found for
   * at most 60 s.
   *
   * @throws ProcessError `notFound`.
   */
  find(name: RunName): ManagedProcess;
  /** Returns runs, oldest first, including ended runs that can still be found. */
  list(): readonly ManagedProcess[];
  /**
   * Measures every living run. Calls share a measurement for a second, or for ten times its duration if that is
   * longer. Never rejects.
   */
  measure(): Promise<Measurement>;
  /**
   * Refuses new starts, aborts those in progress, and stops all runs with the lifetime `connection`. This takes about three
   * grace times at most. Then waits until the ports of these runs are closed, at most half a grace time. The next daemon
   * closes ports that are still open. Idempotent.
   */
  close(): Promise<void>;
}
