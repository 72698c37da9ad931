import type { AllowedExecutable } from './policy/executable-policy.js';
import type { StartQuestion, StartVerdict } from './judge-start.js';
import type { ManagedProcess, ProcessExit, ProcessOwner } from './supervision/managed-process.js';
import type { RecoveredProcess, RunFigures } from './supervision/managed-process.js';
import type { RunName } from './supervision/run-registry.js';
import type { KeptProcess, LastingRun, StartRequest } from './start-request.js';
import type { Measurement } from './usage/shared-measurement.js';

export interface StartOptions {
  /** Aborts the start and releases all its resources. */
  readonly signal?: AbortSignal;
}

/** Runs allowed programs and reports how they ended. The creator closes the manager. */
export interface ProcessManager extends AsyncDisposable {
  /**
   * Ends processes that dead daemons left running. Identifies each by the mark in its environment, by its record on
   * disk (PID and start time), or by its verified copy; never by a PID alone. Call it once, before the first `start`.
   *
   * @throws ProcessError `stateUnavailable`, `unknown`.
   */
  recover(): Promise<readonly RecoveredProcess[]>;
  /**
   * Verifies and runs a program: applies the policy, checks trust in the file's location, makes a verified copy and
   * runs the copy in a process tree of its own. Only one run per name at a time; the run ends when its owner
   * disconnects. The first start whose copy is verified takes the name, so that a client with a wrong checksum cannot
   * hold it. A run gets a minimal environment, the operator's `processEnvironment`, and the client's variables that the
   * entry's `envs` grants.
   *
   * @throws ProcessError `invalidPath`, `pathNotAllowed`, `pathNotTrusted`, `notExecutable`, `invalidArgument`,
   * `envNotAllowed`, `argumentsNotAllowed`, `directoryNotAllowed`, `directoryNotFound`, `lastingNotAllowed`,
   * `auditUnavailable`, `notFound`, `checksumMismatch`, `digestNotPinned`, `notSigned`, `alreadyRunning`,
   * `tooManyProcesses`, `limitsNotAllowed`, `limitsUnavailable`, `filesNotAllowed`, `stagingFailed`, `portsNotOpened`,
   * `spawnFailed`, `stateUnavailable`, `aborted`, `shuttingDown`, `unknown`.
   */
  start(request: StartRequest, options?: StartOptions): Promise<ManagedProcess>;
  /**
   * Judges whether a program would start for a caller, and by which entry; starts and records nothing. Hashing waits in
   * the same per-client queue as the copying of programs that are about to start. Never rejects.
   */
  judge(question: StartQuestion, owner: ProcessOwner): Promise<StartVerdict>;
  /**
   * Takes over a lasting run that an earlier manager started: the run takes its name and a slot of its owner's quota,
   * and its end is reported. Call it after `recover`, which spares runs with a living keeper.
   *
   * @param isHeld - True to end the run unless its client takes the lease in time, as after a start. Default: the run needs no client.
   * @throws ProcessError `alreadyRunning`, `tooManyProcesses`, `stateUnavailable`, `shuttingDown`, `aborted`.
   */
  adopt(
    run: LastingRun,
    process: KeptProcess,
    owner: ProcessOwner,
    isHeld?: boolean,
  ): ManagedProcess;
  /** Reports the end of a lasting run that ended while no manager existed, as for any other run. */
  reportEnded(run: LastingRun, exit: ProcessExit, figures: RunFigures): void;
  /** Replaces the list of allowed programs for later starts; existing runs are unaffected. */
  setAllowed(allowed: readonly AllowedExecutable[]): void;
  /** Replaces the operator's variables, on top of the minimal environment, for later starts. */
  setProcessEnvironment(environment: Readonly<Record<string, string>>): void;
  /** Returns the newest run of a name, or the run with the id, until `lingerMs` after its end. @throws ProcessError `notFound`. */
  find(name: RunName): ManagedProcess;
  /** Returns every run that can be found, oldest first; `state` shows which are alive. */
  list(): readonly ManagedProcess[];
  /**
   * Measures every living run. Calls within a second of a measurement, or within ten times its duration, share its
   * result, and only one measurement runs at a time. Never rejects.
   */
  measure(): Promise<Measurement>;
  /**
   * Refuses new starts, aborts those in progress, and stops every run that does not last, all at once and each within
   * about three grace times; then waits at most half a grace time for ports to close. The port opener closes the
   * remaining ports at its next start. Idempotent.
   */
  close(): Promise<void>;
}
