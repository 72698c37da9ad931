import type { OutputFigures, OutputReader, OutputReaderOptions } from '../output/process-output.js';
import type { ExposedPort, TreeUsage, Leftover, LimitMeans, TreeLimits } from '@wins/base';
import type { RunFile } from '../policy/run-files.js';
import type { EntryName } from '../policy/executable-policy.js';

/** The connection that started a run. */
export interface ProcessOwner {
  /** Identifies the connection among all of this daemon, for example `pipe:17`. */
  readonly id: string;
  /** For people, in the audit log. */
  readonly label?: string;
  /** Client behind the connection, where the system can tell: quotas count by it, else by the connection. */
  readonly client?: OwningClient;
  /** Aborts when the connection is gone; the run then ends, even if its lease is still held. */
  readonly disconnected: AbortSignal;
}

/** A client as the system knows it, not as it calls itself. */
export interface OwningClient {
  /** Key of quotas: the same for all connections of one client. */
  readonly key: string;
  /** For the audit log: its process, account, container. */
  readonly description: Readonly<Record<string, string | number>>;
  /** Names that `for` of an entry may use for it, such as `administrators` or `user:1000`. Absent or empty: the system cannot tell. */
  readonly names?: readonly string[];
}

/** Which run a requester means, when it is not its own. */
export interface RunSelection {
  /** The run's id: who knows it may read and stop a run of another connection. */
  readonly runId?: string;
}

/** Which run is to be stopped, and how. */
export interface StopSelection extends RunSelection {
  /** Makes it end at once, also when it was asked to end already. Default false: it is asked, and made to after the grace time. */
  readonly force?: boolean;
}

/** Keeps a run alive until it is given back. */
export interface Lease {
  /** Gives the lease back, which stops the run. Idempotent; resolves with how it ended. */
  release(): Promise<ProcessExit>;
}

/** A program that was started, from then until some time after its end. */
export interface ManagedProcess {
  /** `rancher-wins-` and the program's name. */
  readonly name: string;
  /** 32 hexadecimal digits, not guessable: who knows it may read and stop the run, so it is never logged. */
  readonly runId: string;
  /** Names the run in logs, records and its processes' environment: 32 hexadecimal digits, from which the id cannot be computed. */
  readonly mark: string;
  /** The program as the list of allowed executables spells it. */
  readonly path: string;
  /** The file name of that: of all runs together there are no more than entries in the list. */
  readonly entry: EntryName;
  /** The verified copy that runs. */
  readonly stagedPath: string;
  readonly pid: number;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Digest of the bytes that run, hexadecimal. */
  readonly sha256: string;
  readonly owner: ProcessOwner;
  readonly exposes: readonly ExposedPort[];
  /** Outcome for these ports; undefined without any. */
  readonly ports: PortsOutcome | undefined;
  /** Undefined without any. */
  readonly limits: RunLimits | undefined;
  /** It outlives the manager, whose `close` leaves it alone. */
  readonly lasts: boolean;
  /** It ends with its owner and has a lease; else it needs neither. */
  readonly isHeld: boolean;
  readonly state: ProcessState;
  /**
   * Resolves when the tree is gone and its output is read to the end; never rejects. A tree that
   * cannot be ended, and a pipe that a stranger keeps open, are given up after the grace time, each
   * with an event.
   */
  readonly ended: Promise<ProcessExit>;
  /**
   * Takes the lease; also after the run ended, while it is remembered.
   *
   * @throws ProcessError `notOwner` for another connection, `leaseHeld` when it was taken before or
   * it was not taken in time.
   */
  holdLease(ownerId: string): Lease;
  /**
   * Gives a run that was adopted to a connection that proves by the run's id that it is the next one of its client; who that client
   * is, the caller has to compare. Nothing happens when the id is another one, or the run has its connection.
   */
  giveTo(owner: ProcessOwner, runId: string): void;
  /** Leaves a run that lasts to its keeper: from now on it ends neither with its lease nor with its connection. */
  leave(): void;
  /**
   * Attaches a reader to the output, from the oldest byte that is kept; the caller closes it.
   *
   * @throws ProcessError `notOwner` for another connection that does not name the run id.
   */
  read(ownerId: string, options?: OutputReaderOptions & RunSelection): OutputReader;
  /**
   * Stops the whole tree: asks, and after the grace time makes it. Resolves with how the run ended,
   * which may be another reason that came first.
   *
   * @throws ProcessError `notOwner` for another connection that does not name the run id.
   */
  stop(ownerId: string, options?: StopSelection): Promise<ProcessExit>;
  /**
   * Replaces a file that the run was started with, in one act: a reader has the old content or the new one.
   *
   * @throws ProcessError `notOwner` for another connection, `notFound` for another name or at its end, `filesNotAllowed`, `tooManyChanges`,
   * `auditUnavailable`, `stateUnavailable`.
   */
  updateFile(ownerId: string, file: RunFile): Promise<void>;
  /**
   * Measures the run, each time anew; after its end, as it was then. Never rejects. See `ProcessManager.measure` for many who
   * ask.
   */
  measure(): Promise<RunFigures>;
}

/** Cost of a run. */
export interface RunFigures {
  /** Resource use of its tree; undefined when the system does not report it. */
  readonly usage: TreeUsage | undefined;
  readonly output: OutputFigures;
}

/** The limits of a run, and what enforces them. */
export interface RunLimits extends TreeLimits {
  readonly means: LimitMeans;
}

/** Outcome for the ports that a run exposes. */
export type PortsOutcome =
  /** They are opened before its program starts, or it does not start. */
  | { readonly kind: 'opened' }
  | { readonly kind: 'notNeeded'; readonly why: string }
  /** This manager has nothing that opens ports. */
  | { readonly kind: 'asTheHostHasThem' };

/** Where a run is between its start and its end. */
export type ProcessState =
  | { readonly kind: 'running' }
  /** The tree was asked to end, or its leader ended and the rest follows; the grace time runs. */
  | { readonly kind: 'stopping'; readonly reason: ExitReason }
  /** The grace time is over; the tree is made to end. */
  | { readonly kind: 'killing'; readonly reason: ExitReason }
  /** The tree is gone; what it wrote is read to the end. */
  | { readonly kind: 'draining'; readonly reason: ExitReason }
  | { readonly kind: 'ended'; readonly exit: ProcessExit };

type ProcessStateKind = ProcessState['kind'];

export const RUN_MOVES: Readonly<Record<ProcessStateKind, readonly ProcessStateKind[]>> = {
  running: ['stopping'],
  stopping: ['killing', 'draining'],
  killing: ['draining'],
  draining: ['ended'],
  ended: [],
};

/** The state that follows; an illegal move is a defect of this library and throws an `Error`. */
export function moveRun(from: ProcessState, to: ProcessState): ProcessState {
  if (RUN_MOVES[from.kind].includes(to.kind)) return to;
  throw new Error(`a run cannot go from ${from.kind} to ${to.kind}`);
}

/**
 * Why a run ended; the first cause is kept. `exited`: its leader ended by itself. `outOfMemory`: the
 * system ended it at its limit of memory, where the system tells that. `stopped`: a
 * client asked. `leaseEnded`, `leaseNeverHeld`, `ownerDisconnected`: the client that started it went
 * away. `replaced`: another start took its name. `yielded`: its client had the most, and another one had none. `daemonStopping`: the manager
 * closed. `hostFailed`: it could not be supervised.
 */
export type ExitReason =
  | ('exited' | 'outOfMemory' | 'stopped' | 'leaseEnded' | 'leaseNeverHeld')
  | ('ownerDisconnected' | 'replaced' | 'yielded' | 'daemonStopping' | 'hostFailed');

/** How a run ended. */
export interface ProcessExit {
  /** The leader's exit code, 0 to 2^32-1; 128 + the signal's number when a signal ended it. */
  readonly code: number;
  /** Name of the signal that ended the leader, for example `SIGKILL`. */
  readonly signal?: string;
  readonly reason: ExitReason;
}

/** A process of an earlier daemon's run, found and ended. */
export interface RecoveredProcess {
  readonly pid: number;
  /** Evidence that it was a leftover. */
  readonly evidence: Leftover['evidence'];
  readonly mark?: string;
  /** Name and path of the program, when a record remembered them. */
  readonly name?: string;
  readonly path?: string;
}

/** The run that an event is about, as `ManagedProcess` has it. */
export type EventRun = Pick<ManagedProcess, 'mark' | 'path' | 'entry'>;

/** Events for the daemon's log. */
export type ManagerEvent =
  | ({ readonly type: 'started'; readonly name: string; readonly pid: number } & EventRun)
  /** With what it has cost in all. */
  | ({
      readonly type: 'ended';
      readonly name: string;
      readonly exit: ProcessExit;
      readonly figures: RunFigures;
    } & EventRun)
  /** A decision allowed the start and the operating system did not. */
  | ({ readonly type: 'startFailed'; readonly error: unknown } & EventRun)
  /** Something of the run could not be ended; its record is kept for the next recovery. */
  | { readonly type: 'treeNotGone'; readonly mark: string; readonly name: string }
  /** The files of an ended run are left; they are removed at the next recovery. */
  | { readonly type: 'filesNotRemoved'; readonly mark: string; readonly error: unknown }
  /** A stranger kept a pipe of the run open; what it may still write is not waited for. */
  | { readonly type: 'outputCutOff'; readonly mark: string; readonly name: string }
  /** Nothing stands in the way of the ports of a run that starts, so they were not opened. */
  | ({ readonly type: 'portsNotOpened'; readonly why: string } & EventRun)
  /** The ports of an ended run may still be open; it is tried again, and a sweep at the next start must follow. */
  | { readonly type: 'portsNotClosed'; readonly mark: string; readonly error: unknown }
  | ({ readonly type: 'leftoverEnded' } & RecoveredProcess)
  | ({ readonly type: 'leftoverNotGone' } & RecoveredProcess)
  | { readonly type: 'recordIgnored'; readonly file: string; readonly why: string };
