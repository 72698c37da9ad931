import type { Readable } from 'node:stream';
import type { CanonicalPath } from './canonical-path.js';

/** Keeps a file unchanged until closed. */
export interface FileHold extends Disposable {
  /** Idempotent. */
  close(): void;
}

/** A process and its descendants. */
export interface ProcessTree {
  /** True once no process of the tree runs; false when unknown. Never throws. */
  isGone(): Promise<boolean>;
  /** Ends all processes, by request (`graceful`) or at once (`force`). Repeatable; never throws. */
  terminate(mode: 'graceful' | 'force'): Promise<void>;
}

/** Resource use of a tree, as far as the system records it. */
export interface TreeUsage {
  /** In milliseconds, including ended processes. Never decreases. */
  readonly cpuMs: number;
  /** Sum of the resident memory of all processes. Shared memory is counted once for each process. */
  readonly memoryBytes: number;
  readonly processes: number;
}

/** Limits of a tree. An absent limit does not apply. */
export interface TreeLimits {
  readonly memoryBytes?: number | undefined;
  /** Number of processors, such as 0.5. */
  readonly cpus?: number | undefined;
  /** Simultaneous processes. On Linux threads count too. */
  readonly pids?: number | undefined;
}

/** `jobObject` and `cgroup` limit the whole tree; `rlimit` limits each process. */
export type LimitMeans = 'jobObject' | 'cgroup' | 'rlimit';

/** Signals that ask a tree to end. */
export const STOP_SIGNALS = {
  posix: ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'],
  windows: ['CTRL_BREAK', 'WM_CLOSE'],
} as const;

/** How to ask a tree to end: by a signal, or by a named Windows event that one of its processes waits for. */
export interface StopRequest {
  readonly signal?: (typeof STOP_SIGNALS)[keyof typeof STOP_SIGNALS][number] | undefined;
  /** Name with its namespace, such as `Global\\stackdump-4711`. */
  readonly event?: string | undefined;
}

/** A command that the caller has authorized and verified. */
export interface HostCommand {
  /** Mark of the run or command, 32 hexadecimal digits. Knowing it gives no access to the run. */
  readonly mark: string;
  /** Id of the daemon's state folder. Daemons with the same lineage may end the run once this daemon is dead. */
  readonly lineage: string;
  /** Path of the verified copy. */
  readonly file: string;
  /** Name under which the program sees itself. */
  readonly argv0: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of the working directory. */
  readonly directory: string;
  /** Allows processes to leave the tree. Some hosts cannot prevent it. Default false. */
  readonly mayBreakAway?: boolean | undefined;
  /** Limits of the tree. The host sets them before it executes the program. If a limit cannot be set, the program does not start. */
  readonly limits?: TreeLimits | undefined;
  /** Default: SIGTERM; on Windows, no request. */
  readonly stop?: StopRequest | undefined;
}

/** Options of {@link ProcessHost.start}. */
export interface StartOptions {
  /**
   * Lets the host read the output of all processes into one buffer, to save memory. `stdout` and `stderr` then begin paused and
   * emit only `data`. The bytes are valid until the handler returns. A host may ignore this.
   */
  readonly reusesBuffer?: boolean | undefined;
}

/** Exit status of the tree's first process. */
export interface HostExit {
  /** 0 to 2^32-1; 128 + the signal number after a signal. */
  readonly code: number;
  /** Such as `SIGKILL`; absent without a signal. */
  readonly signal?: string | undefined;
  /** True when the system reports that it ended the process because the tree reached its memory limit. */
  readonly outOfMemory?: true | undefined;
}

/** A started process; the caller of `start` owns it. */
export interface HostProcess extends ProcessTree, Disposable {
  readonly pid: number;
  /** Together with the PID, identifies the process even after PID reuse or a reboot. */
  readonly startToken: string;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the first process ends. Never rejects. */
  readonly exited: Promise<HostExit>;
  /** Undefined if the system has no data, and after `close`. Cheap once the tree has ended. Never rejects. */
  usage(): Promise<TreeUsage | undefined>;
  /** Releases handles. Called when the run is over. Idempotent. */
  close(): void;
}

/** A process that an earlier daemon started. */
export interface Leftover extends ProcessTree {
  readonly pid: number;
  /** Why the process is attributed to an earlier daemon. */
  readonly evidence: 'marker' | 'record' | 'executable';
  /** Undefined when only the executable tells that the process belongs to a run. */
  readonly mark: string | undefined;
  /** True if a running daemon owns the process, or the process is `LeftoverSearch.spared`. The caller must not end it. */
  readonly claimed: boolean;
}

/** A process in the record of a run. */
export interface RememberedProcess {
  readonly mark: string;
  readonly pid: number;
  readonly startToken: string;
}

/** Criteria for finding leftovers. */
export interface LeftoverSearch {
  /** Verified copies. A process that runs one belongs to a run. */
  readonly executables: readonly string[];
  /** Processes whose daemons are known to be dead. */
  readonly remembered: readonly RememberedProcess[];
  /** Also find all processes marked by a dead daemon of this lineage. */
  readonly lineage?: string | undefined;
  /** Identity of a process that must not be ended, in the format of `ProcessHost.daemon`. The search reports such a process as `claimed`. */
  readonly spared?: string | undefined;
}

/**
 * Runs programs on the operating system. `@wins/linux-host` and `@wins/windows-host` implement it; `processHostContract` in
 * `@wins/process-manager/testing` tests both. The option `failure` of each implementation selects the class of its errors.
 */
export interface ProcessHost {
  readonly dialect: 'windows' | 'posix';
  /** Identifies this daemon's process among all that ever ran on this host. */
  readonly daemon: string;
  /** Whether the daemon with this value of `ProcessHost.daemon` could still be running. */
  isDaemonAlive(daemon: string): boolean;
  /** Throws unless only administrators and the daemon's user could have created the file. @throws `notFound`, `pathNotTrusted`, `unknown`. */
  assertTrustedFile(path: CanonicalPath): Promise<void>;
  /** Throws unless the system can execute the program. Absent if `start` checks this. @throws `notFound`, `notExecutable`, `unknown`. */
  assertProgram?(path: string): Promise<void>;
  /** Works like `assertTrustedFile`, for all content of a directory. @throws `notFound`, `pathNotTrusted`, `unknown`. */
  assertTrustedDirectory(path: CanonicalPath): Promise<void>;
  /** Creates a directory in which only the daemon's user can write, or checks an existing one. @throws `stateUnavailable`. */
  ensurePrivateDirectory(path: string): void;
  /**
   * Until the hold is closed, no process can write, rename or delete the file. Absent where the system cannot do this; the
   * folder's protection must suffice there.
   *
   * @throws `stagingFailed`, for example if the file is open for writing.
   */
  holdFile?(path: string): Promise<FileHold>;
  /** Returns how the host enforces limits. Absent if it enforces none. @throws `limitsUnavailable` for a limit that cannot be enforced. */
  limitMeans?(limits: TreeLimits): LimitMeans;
  /**
   * Starts a process in its own tree. Resolves as soon as the process exists, so that the caller can record it at once.
   *
   * @throws `spawnFailed`, `limitsUnavailable`, `invalidArgument` (arguments too long).
   */
  start(command: HostCommand, options?: StartOptions): Promise<HostProcess>;
  /** Finds processes of earlier daemons. @throws `unknown` when the search fails. */
  findLeftovers(search: LeftoverSearch): Promise<readonly Leftover[]>;
}
