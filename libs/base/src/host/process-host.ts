import type { Readable } from 'node:stream';

/** Keeps a file unchanged until the caller closes the hold. */
export interface FileHold {
  /** Permits changes again; idempotent. */
  close(): void;
}

/** A process and everything it started, which can be ended together. */
export interface ProcessTree {
  /** True once no process of the tree runs; false also when that cannot be determined. Never throws. */
  isGone(): Promise<boolean>;
  /** Requests (`graceful`) or enforces (`force`) the end of all processes in the tree. Repeatable; never throws. */
  terminate(mode: 'graceful' | 'force'): Promise<void>;
}

/** Resource use of a whole process tree, as far as the system records it. */
export interface TreeUsage {
  /** Processor time of the tree in milliseconds, including ended processes. Never decreases. */
  readonly cpuMs: number;
  /** Resident memory of its processes, in bytes; shared memory counts for each process. */
  readonly memoryBytes: number;
  readonly processes: number;
}

/** Limits of a whole tree; an absent limit does not apply. */
export interface TreeLimits {
  /** Memory of all its processes, in bytes. */
  readonly memoryBytes?: number;
  /** Processor time in processors, such as 0.5. */
  readonly cpus?: number;
  /** Maximum number of simultaneous processes; on Linux threads count, too. */
  readonly pids?: number;
}

/** How the limits are enforced: `jobObject` and `cgroup` limit the whole tree, `rlimit` limits each process separately. */
export type LimitMeans = 'jobObject' | 'cgroup' | 'rlimit';

/** Signals that request the end of a tree: those of POSIX, and the Windows equivalents. */
export const STOP_SIGNALS = {
  posix: ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'],
  windows: ['CTRL_BREAK', 'WM_CLOSE'],
} as const;

/** Method of requesting the end of a tree: a signal to its processes, or a named Windows event that one of them waits for. */
export interface StopRequest {
  readonly signal?: (typeof STOP_SIGNALS)[keyof typeof STOP_SIGNALS][number];
  readonly event?: string;
}

/** The command to start. The caller has already authorized and verified all of it. */
export interface HostCommand {
  /** Identifies the run without granting rights to it: 32 hexadecimal digits. */
  readonly mark: string;
  /** Identifies the state directory of the daemon. Daemons with the same lineage may end the run once this daemon is dead. */
  readonly lineage: string;
  /** Absolute path of the verified copy. */
  readonly file: string;
  /** The program's argv[0], the first word of its command line. */
  readonly argv0: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  /** Whether the program may start processes outside its tree, on hosts that can prevent it. Default false. */
  readonly mayBreakAway?: boolean;
  /** Limits of the tree. They take effect before the program executes; if they cannot, the program does not start. Default: none. */
  readonly limits?: TreeLimits;
  /** How to request its end. Default: SIGTERM; on Windows, no request. */
  readonly stop?: StopRequest;
}

/** How the caller of a start reads the outputs. */
export interface StartOptions {
  /**
   * Lets the host read the outputs of all runs into one buffer, which saves most of the memory. `stdout` and `stderr` then begin paused and
   * emit `data` only, and the bytes are valid until the handler returns. A host may ignore this. Default false.
   */
  readonly reusesBuffer?: boolean;
}

/** Exit status of a tree's leader. */
export interface HostExit {
  /** 0 to 2^32-1; 128 + the signal number when a signal ended it. */
  readonly code: number;
  readonly signal?: string;
  /** True when the system ended the leader because the tree reached its memory limit, if the system reports this. */
  readonly outOfMemory?: true;
}

/** A started process; the caller of `start` owns it. */
export interface HostProcess extends ProcessTree {
  readonly pid: number;
  /** Together with the PID, identifies the process uniquely across PID reuse and reboots. */
  readonly startToken: string;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the leader ends; never rejects. */
  readonly exited: Promise<HostExit>;
  /** Measures the tree; undefined without data, and after `close`. Nearly free once the tree has ended. Never rejects. */
  usage(): Promise<TreeUsage | undefined>;
  /** Releases operating system handles; idempotent, called after the end. */
  close(): void;
}

/** A process that an earlier daemon started. */
export interface Leftover extends ProcessTree {
  readonly pid: number;
  /** Evidence that the process belongs to an earlier daemon. */
  readonly evidence: 'marker' | 'record' | 'executable';
  readonly mark: string | undefined;
  /** True when a running daemon claims the process, or the search spares it; the process must then not be ended. */
  readonly claimed: boolean;
}

/** A process as stored in the record of a run. */
export interface RememberedProcess {
  readonly mark: string;
  readonly pid: number;
  readonly startToken: string;
}

/** Criteria for finding leftovers. */
export interface LeftoverSearch {
  /** Verified copies; a process that runs one of them belongs to a run. */
  readonly executables: readonly string[];
  /** Processes whose daemons are known to be dead. */
  readonly remembered: readonly RememberedProcess[];
  /** Also find every process with the mark of a dead daemon of this lineage. */
  readonly lineage?: string;
  /** One process that always counts as claimed, whatever the evidence, in the format of `ProcessHost.daemon`. */
  readonly spared?: string | undefined;
}

/**
 * The port to the operating system that runs programs. `@wins/linux-host` and `@wins/windows-host` each implement it;
 * `processHostContract` in `@wins/process-manager/testing` is the contract for both. The methods throw errors of
 * the class that the caller supplies, with the codes below.
 */
export interface ProcessHost {
  /** Path syntax of the host. */
  readonly dialect: 'windows' | 'posix';
  /** Identifies the process of this daemon among all that ever ran on this host. */
  readonly daemon: string;
  /** Whether the process of a daemon, given in the format of `daemon`, may still run. */
  isDaemonAlive(daemon: string): boolean;
  /** Requires that only administrators or the daemon's user could have created the file. @throws `notFound`, `pathNotTrusted`, `unknown`. */
  assertTrustedFile(path: string): Promise<void>;
  /** Requires a program that the system can execute. Absent if `start` checks this. @throws `notFound`, `notExecutable`, `unknown`. */
  assertProgram?(path: string): Promise<void>;
  /** Works like `assertTrustedFile`, for all content of the directory. @throws `notFound`, `pathNotTrusted`, `unknown`. */
  assertTrustedDirectory(path: string): Promise<void>;
  /** Requires a directory of the daemon's user in which no other user can write, or creates it. @throws `stateUnavailable`. */
  ensurePrivateDirectory(path: string): void;
  /**
   * Holds a file: until the hold is closed, the file can be read and executed, but not written, renamed or deleted.
   * Absent where the operating system cannot do this; there the protection of the folder must suffice.
   *
   * @throws `stagingFailed`, for instance when it is open for writing.
   */
  holdFile?(path: string): Promise<FileHold>;
  /** Returns the mechanism for these limits. Absent on hosts without any. @throws `limitsUnavailable` for a limit that cannot be enforced. */
  limitMeans?(limits: TreeLimits): LimitMeans;
  /**
   * Starts a process in its own tree. Once the process exists, the promise must resolve without further waiting, so that
   * the caller can record the process before anything else happens.
   *
   * @throws `spawnFailed`, `limitsUnavailable`, `invalidArgument` (arguments too long).
   */
  start(command: HostCommand, options?: StartOptions): Promise<HostProcess>;
  /** Finds processes that earlier daemons left. @throws `unknown` when the search fails. */
  findLeftovers(search: LeftoverSearch): Promise<readonly Leftover[]>;
}
