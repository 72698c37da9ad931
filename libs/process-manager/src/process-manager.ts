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
import type { KeptProcess, LastingRun, StartRequest } from './start-request.js';
import type { Measurement } from './usage/shared-measurement.js';

/** Options of `ProcessManager.start`. */
export interface StartOptions {
  /** Gives the start up; nothing of it stays. */
  readonly signal?: AbortSignal;
}

/** Runs allowed programs and knows how they ended. Its creator closes it. */
export interface ProcessManager extends AsyncDisposable {
  /**
   * Ends what earlier daemons that died left running: by the mark in its environment, by the record
   * on disk (PID and start time), or by the verified copy that it runs; never by a PID alone. Call it
   * once, before the first `start`.
   *
   * @throws ProcessError `stateUnavailable`, `unknown`.
   */
  recover(): Promise<readonly RecoveredProcess[]>;
  /**
   * Verifies and runs a program: policy, then trust in its place, then a verified copy, then the copy
   * runs in a tree of its own. One run per name at a time; the run ends when its owner disconnects.
   * The name is taken by the first whose copy was verified, so that a client with a wrong checksum cannot hold it.
   * A run gets a minimal environment, the operator's `processEnvironment`, and of the client's what the entry's `envs` grants.
   *
   * @throws ProcessError `invalidPath`, `pathNotAllowed`, `pathNotTrusted`, `notExecutable`, `invalidArgument`,
   * `envNotAllowed`, `argumentsNotAllowed`, `directoryNotAllowed`, `directoryNotFound`, `lastingNotAllowed`, `auditUnavailable`, `notFound`, `checksumMismatch`, `digestNotPinned`, `notSigned`,
   * `alreadyRunning`, `tooManyProcesses`, `limitsNotAllowed`, `limitsUnavailable`, `filesNotAllowed`, `stagingFailed`, `portsNotOpened`, `spawnFailed`,
   * `stateUnavailable`, `aborted`, `shuttingDown`, `unknown`.
   */
  start(request: StartRequest, options?: StartOptions): Promise<ManagedProcess>;
  /**
   * Says whether a program would start for a caller, and by which entry; nothing is started or recorded. Hashing waits for its
   * turn among the copies of starts, client by client. Never rejects.
   */
  judge(question: StartQuestion, owner: ProcessOwner): Promise<StartVerdict>;
  /**
   * Takes over a run that an earlier manager started to last: it has its name, its place among the runs of its
   * owner, and its end is reported. Call it after `recover`, which leaves alone what a living keeper has.
   *
   * @param isHeld - Whether it ends unless its client comes and takes the lease in time, as after a start. Default: it needs no client.
   * @throws ProcessError `alreadyRunning`, `tooManyProcesses`, `stateUnavailable`, `shuttingDown`, `aborted`.
   */
  adopt(
    run: LastingRun,
    process: KeptProcess,
    owner: ProcessOwner,
    isHeld?: boolean,
  ): ManagedProcess;
  /** Reports the end of a run that lasted and ended while there was no manager, as that of any other. */
  reportEnded(run: LastingRun, exit: ProcessExit, figures: RunFigures): void;
  /** Replaces the list of what may run, for starts from now on; what was started is left alone. */
  setAllowed(allowed: readonly AllowedExecutable[]): void;
  /** Replaces what every run gets besides the minimal environment, for starts from now on. */
  setProcessEnvironment(environment: Readonly<Record<string, string>>): void;
  /**
   * The newest run of a name, or exactly the one with the run id; ended ones are found for a while.
   *
   * @throws ProcessError `notFound`.
   */
  find(name: RunName): ManagedProcess;
  /** Every run that can be found, the oldest first; `state` tells which of them live. */
  list(): readonly ManagedProcess[];
  /**
   * Measures every run that lives. Callers within a second, or within ten times as long as it took, get the same measurement,
   * and while one is taken no other is begun. Never rejects.
   */
  measure(): Promise<Measurement>;
  /**
   * Refuses new starts, gives up those under way, and stops every run but those that last, all at once and each within
   * about three grace times; then waits half a grace time at most for what still closes ports. Who
   * opens them sweeps at the next start what is open then. Idempotent.
   */
  close(): Promise<void>;
}
