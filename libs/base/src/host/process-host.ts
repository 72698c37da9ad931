import type { Readable } from 'node:stream';

/** Keeps a file from being changed until it is closed, by the caller. */
export interface FileHold {
  /** Allows changes again; idempotent. */
  close(): void;
}

/** A process and everything it started, as one thing that can be ended. */
export interface ProcessTree {
  /** True once nothing of the tree runs; a failure to find out counts as false. Never throws. */
  isGone(): Promise<boolean>;
  /** Asks (`graceful`) or makes (`force`) everything in the tree end. Repeatable; never throws. */
  terminate(mode: 'graceful' | 'force'): Promise<void>;
}

/** Resource use of a whole process tree, as far as the system records it. */
export interface TreeUsage {
  /** Processor time of the tree, of processes that have ended too, in milliseconds. Never goes down. */
  readonly cpuMs: number;
  /** Memory of its processes that is in RAM, in bytes; what several of them share is counted for each. */
  readonly memoryBytes: number;
  /** How many of its processes run. */
  readonly processes: number;
}

/** Bounds of a whole tree; each that is absent does not bind. */
export interface TreeLimits {
  /** Memory of all its processes, in bytes. */
  readonly memoryBytes?: number;
  /** Processors' worth of time, such as 0.5. */
  readonly cpus?: number;
  /** Processes at once; on Linux threads count, too. */
  readonly pids?: number;
}

/**
 * By which means a tree is kept within its limits. `jobObject`, `cgroup`: the tree as a whole. `rlimit`: each process by itself, so that two
 * may have twice as much.
 */
export type LimitMeans = 'jobObject' | 'cgroup' | 'rlimit';

/** Signals by which a tree can be asked to end: those of POSIX, and what Windows has in their place. */
export const STOP_SIGNALS = {
  posix: ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'],
  windows: ['CTRL_BREAK', 'WM_CLOSE'],
} as const;

/** How a tree is asked to end: by a signal to its processes, or a named event of Windows that one of them waits for. */
export interface StopRequest {
  readonly signal?: (typeof STOP_SIGNALS)[keyof typeof STOP_SIGNALS][number];
  readonly event?: string;
}

/** The command to start. All of it was decided and verified before. */
export interface HostCommand {
  /** Names the run, and gives no right to it: 32 hexadecimal digits. */
  readonly mark: string;
  /** Which daemons may end it once this one is dead: those with the same state directory. */
  readonly lineage: string;
  /** Absolute path of the verified copy. */
  readonly file: string;
  /** The name that the program sees as its own; its command line begins with it. */
  readonly argv0: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  /**
   * Whether it may start processes that are no part of its tree and outlive it, if it asks for that: the rule said so. A host
   * that cannot tell such a process from the others of the tree takes no notice. Default false.
   */
  readonly mayBreakAway?: boolean;
  /** Bounds of the tree, which hold before the program executes, or it does not start. Default: none. */
  readonly limits?: TreeLimits;
  /** How it is asked to end. Default: SIGTERM, and on Windows it is not asked. */
  readonly stop?: StopRequest;
}

/** How the leader of a tree ended. */
export interface HostExit {
  /** 0 to 2^32-1; 128 + the signal's number when a signal ended it. */
  readonly code: number;
  readonly signal?: string;
  /** True when the system ended it because the tree had no more memory to get; absent otherwise, and where the system does not tell. */
  readonly outOfMemory?: true;
}

/** A started process; the caller of `start` owns it. */
export interface HostProcess extends ProcessTree {
  readonly pid: number;
  /** Together with the PID identifies the process forever, across reuse of the PID and reboots. */
  readonly startToken: string;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the leader ends; never rejects. */
  readonly exited: Promise<HostExit>;
  /**
   * Measures the tree; undefined when the system does not tell, and after `close`. Once the tree is gone it costs next to
   * nothing. Never rejects.
   */
  usage(): Promise<TreeUsage | undefined>;
  /** Gives handles of the operating system back; idempotent, after the end. */
  close(): void;
}

/** A process that an earlier daemon started. */
export interface Leftover extends ProcessTree {
  readonly pid: number;
  /** The evidence of its owner. */
  readonly evidence: 'marker' | 'record' | 'executable';
  readonly mark: string | undefined;
  /** A daemon that still runs claims it, or the search spares it: not to be touched. */
  readonly claimed: boolean;
}

/** A process as a run record remembers it. */
export interface RememberedProcess {
  readonly mark: string;
  readonly pid: number;
  readonly startToken: string;
}

/** Where to look for leftovers. */
export interface LeftoverSearch {
  /** Verified copies; a process that runs one belongs to a run. */
  readonly executables: readonly string[];
  /** Processes of daemons that are known to be dead. */
  readonly remembered: readonly RememberedProcess[];
  /** Also every process that carries the mark of a dead daemon of this lineage. */
  readonly lineage?: string;
  /** A process that is claimed whatever shows that it is a leftover, named as `daemon` names one. */
  readonly spared?: string | undefined;
}

/**
 * The port to the operating system that runs programs. `@wins/linux-host` and `@wins/windows-host` have one each; the contract that
 * both fulfil is `processHostContract` of `@wins/process-manager/testing`. Its errors are those of the user, with these codes.
 */
export interface ProcessHost {
  /** How its paths are spelt. */
  readonly dialect: 'windows' | 'posix';
  /** Identifies this daemon's process among all that ever ran here. */
  readonly daemon: string;
  /** Whether the process that a `daemon` text identifies may still run. */
  isDaemonAlive(daemon: string): boolean;
  /**
   * Succeeds when only the system's administrators or the daemon's user could have put the file there.
   *
   * @throws `notFound`, `pathNotTrusted`, `unknown`.
   */
  assertTrustedFile(path: string): Promise<void>;
  /**
   * Succeeds when the system can begin the file as a program. Absent where the start itself says so.
   *
   * @throws `notFound`, `notExecutable`, `unknown`.
   */
  assertProgram?(path: string): Promise<void>;
  /**
   * Succeeds when only the system's administrators or the daemon's user could have put anything into the directory.
   *
   * @throws `notFound`, `pathNotTrusted`, `unknown`.
   */
  assertTrustedDirectory(path: string): Promise<void>;
  /**
   * Succeeds when the directory belongs to us and no other user can write in it; creates it when absent.
   *
   * @throws `stateUnavailable`.
   */
  ensurePrivateDirectory(path: string): void;
  /**
   * Holds a file: until it is closed it can be read and run, and not written, renamed or deleted. Absent where
   * the operating system has no such thing; there the place of the file must be enough.
   *
   * @throws `stagingFailed`, for instance when it is open for writing.
   */
  holdFile?(path: string): Promise<FileHold>;
  /**
   * Says by which means a tree would be kept within limits. Absent where nothing can.
   *
   * @throws `limitsUnavailable` when one of the limits cannot be enforced here.
   */
  limitMeans?(limits: TreeLimits): LimitMeans;
  /**
   * Starts a process in a tree of its own. It must resolve without waiting for anything once the
   * process exists, so that nothing can happen before the caller has recorded it.
   *
   * @throws `spawnFailed`, `limitsUnavailable`, `invalidArgument` (arguments too long).
   */
  start(command: HostCommand): Promise<HostProcess>;
  /** Finds what earlier daemons left. @throws `unknown` when it cannot look. */
  findLeftovers(search: LeftoverSearch): Promise<readonly Leftover[]>;
}
