import type { OutputFigures, OutputReader } from '../output/output-log.js';
import type { Abortable } from 'node:events';
import type {
  ClientIdentity,
  ExposedPort,
  HostExit,
  TreeUsage,
  Leftover,
  LimitMeans,
  TreeLimits,
} from '@wins/base';
import type { RunFile } from '../policy/run-files.js';
import type { EntryName } from '../policy/executable-policy.js';

/** The connection that started a run. */
export interface ProcessOwner {
  /** Unique among all connections of this daemon, for example `pipe:17`. */
  readonly id: string;
  /** For the audit log. */
  readonly label?: string | undefined;
  /** Name of the owner's detached run, for events. */
  readonly runName?: string | undefined;
  /** Present if the system can identify the client. If present, quotas count by client, otherwise by connection. */
  readonly client?: OwningClient | undefined;
  /** Client of a run that outlives the daemon, which need not be connected. */
  readonly absentClient?: ClientIdentity | undefined;
  /** Aborts when the connection closes; the run then ends, even if its lease is still held. */
  readonly disconnected: AbortSignal;
}

/** A client as the system identifies it, whatever name it gives itself. */
export interface OwningClient {
  /** Key of quotas: the same for all connections of one client. */
  readonly key: string;
  /** The client's process, account and container, for the audit log. */
  readonly description: Readonly<Record<string, string | number | undefined>>;
  /** Names of the client that an entry can list in `for`, such as `user:1000`. Absent or empty: the system cannot identify the client. */
  readonly names?: readonly string[] | undefined;
}

/** Selects a run that another connection started. */
export interface RunSelection {
  /** A connection that knows the id may read and stop a run of another connection. */
  readonly runId?: string | undefined;
}

/** Selects the run to stop, and how. */
export interface StopSelection extends RunSelection {
  /** Kills the run at once, even while it is being stopped. Default false: kills it after the grace time. */
  readonly force?: boolean | undefined;
  /** Reported reason for the end. Default `stopped`. */
  readonly reason?: 'stopped' | 'replaced' | undefined;
}

/**
 * How long a run may live. `connection`: until its lease is released, its connection closes, or the manager closes. `lease`: the
 * same, but it survives the manager, and waits for its client to connect to the next one. `detached`: it outlives both.
 */
export type Lifetime = 'connection' | 'lease' | 'detached';

/** Keeps a run alive until released. */
export interface Lease extends AsyncDisposable {
  /** Releases the lease, which stops the run. Idempotent; resolves with how the run ended. */
  release(): Promise<ProcessExit>;
}

/** A started program, from its start until some time after its end. */
export interface ManagedProcess {
  /** `rancher-wins-` and the program's name. */
  readonly name: string;
  /** 32 unguessable hexadecimal digits that give the right to read and stop the run: never log them. */
  readonly runId: string;
  /** 32 hexadecimal digits for logs, records and the environment of the processes; they do not reveal the id. */
  readonly mark: string;
  /** Path as the list of allowed programs spells it. */
  readonly path: string;
  /** File name in `path`, as the list spells it. No client chose it, so it is safe as a metric label. */
  readonly entry: EntryName;
  /** Path of the verified copy, which runs. */
  readonly stagedPath: string;
  readonly pid: number;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Digest of the bytes that run, hexadecimal. */
  readonly sha256: string;
  readonly owner: ProcessOwner;
  readonly exposes: readonly ExposedPort[];
  /** Undefined when the run exposes no ports. */
  readonly ports: PortsOutcome | undefined;
  /** Undefined when the run has no limits. */
  readonly limits: RunLimits | undefined;
  readonly lifetime: Lifetime;
  readonly state: ProcessState;
  /**
   * Resolves when the tree is gone and all output is read; never rejects. After the grace time it resolves even if a
   * process has not ended, or an unrelated process holds a pipe open. An event reports each case.
   */
  readonly ended: Promise<ProcessExit>;
  /**
   * Takes the lease of the run. This also works after the run has ended.
   *
   * @throws ProcessError `notOwner` for another connection, `leaseHeld` when the lease was taken before or has
   * expired.
   */
  holdLease(ownerId: string): Lease;
  /**
   * Transfers an adopted run to a connection that presents the run's id. The caller checks that the run
   * belongs to the same client. Does nothing when the id differs or the run already has a connection.
   */
  giveTo(owner: ProcessOwner, runId: string): void;
  /** Reads the output from the oldest byte that is kept, and waits for more. The signal or the caller closes the reader. @throws ProcessError `notOwner`. */
  read(ownerId: string, options?: Abortable & RunSelection): OutputReader;
  /**
   * Asks the whole tree to end, and kills it after the grace time. Resolves with how the run ended. A run that was
   * already ending keeps its reason.
   *
   * @throws ProcessError `notOwner` for another connection that does not name the run id.
   */
  stop(ownerId: string, options?: StopSelection): Promise<ProcessExit>;
  /**
   * Replaces a file of the run: a reader sees the old content or the new one.
   *
   * @throws ProcessError `notOwner` for another connection, `notFound` for an unknown file or an ending run,
   * `filesNotAllowed`, `tooManyChanges`, `auditUnavailable`, `stateUnavailable`.
   */
  updateFile(ownerId: string, file: RunFile): Promise<void>;
  /**
   * Measures on each call; returns the final figures after the run has ended. Never rejects. For many callers use
   * `ProcessManager.measure`.
   */
  measure(): Promise<RunFigures>;
}

/** Resource use and output of a run: the present values, or the final ones after its end. */
export interface RunFigures {
  /** Undefined when the system does not report it. */
  readonly usage?: TreeUsage | undefined;
  readonly output: OutputFigures;
}

/** Limits in force, and the mechanism that enforces them. */
export interface RunLimits extends TreeLimits {
  readonly means: LimitMeans;
}

/** How the ports that a run exposes came to be open. */
export type PortsOutcome =
  /** The manager opened the ports before the start. If that fails, the program does not start. */
  | { readonly kind: 'opened' }
  | { readonly kind: 'notNeeded'; readonly why: string }
  /** This manager has no port opener, so the ports stay as the host has them. */
  | { readonly kind: 'asTheHostHasThem' };

/** Phases of a run, in this order; a phase may be skipped. */
export type ProcessState =
  | { readonly kind: 'running' }
  /** The tree was asked to end, or its leader ended before the other processes. The grace time has begun. */
  | { readonly kind: 'stopping'; readonly reason: ExitReason }
  /** The grace time is over; the tree is being killed. */
  | { readonly kind: 'killing'; readonly reason: ExitReason }
  /** The tree is gone; its remaining output is being read. */
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

/** @throws Error for an illegal transition, which is a defect of this library. */
export function moveRun(from: ProcessState, to: ProcessState): ProcessState {
  if (RUN_MOVES[from.kind].includes(to.kind)) return to;
  throw new Error(`a run cannot go from ${from.kind} to ${to.kind}`);
}

/** Each {@link ExitReason}. */
export const EXIT_REASONS = [
  'exited',
  'outOfMemory',
  'stopped',
  'leaseEnded',
  'leaseNeverHeld',
  'ownerDisconnected',
  'replaced',
  'yielded',
  'daemonStopping',
  'hostFailed',
] as const;

/**
 * Reason for the end of a run; the first one is kept. `outOfMemory`: the system reports that it killed the run at
 * its memory limit. `leaseEnded`: the client released the lease. `leaseNeverHeld`: no client took the lease in time.
 * `ownerDisconnected`: the connection closed. `replaced`: another start took the run's name. `yielded`: no slot was free,
 * another client needed one, and the run's client had the most runs. `hostFailed`: the daemon could not supervise the run.
 */
export type ExitReason = (typeof EXIT_REASONS)[number];

/** How the first process of a run ended, and why the run ended. */
export interface ProcessExit extends Omit<HostExit, 'outOfMemory'> {
  readonly reason: ExitReason;
}

/** A process left over from a dead daemon's run. */
export interface RecoveredProcess {
  readonly pid: number;
  readonly evidence: Leftover['evidence'];
  readonly mark?: string | undefined;
  /** `name` and `path` come from the run's record, if there is one. */
  readonly name?: string | undefined;
  readonly path?: string | undefined;
}

/** Identifies the run in an event, without the run id, which gives rights. */
export interface EventRun extends Pick<ManagedProcess, 'mark' | 'path' | 'entry'> {
  /** Name that the owner gave a detached run. */
  readonly runName?: string | undefined;
}

/** Events for the daemon's log. */
export type ManagerEvent =
  | ({ readonly type: 'started'; readonly name: string; readonly pid: number } & EventRun)
  /** `figures` is the total resource use. */
  | ({
      readonly type: 'ended';
      readonly name: string;
      readonly exit: ProcessExit;
      readonly figures: RunFigures;
    } & EventRun)
  /** The policy allowed the start, but the operating system refused it. */
  | ({ readonly type: 'startFailed'; readonly error: unknown } & EventRun)
  /** The record stays for the next recovery. */
  | { readonly type: 'treeNotGone'; readonly mark: string; readonly name: string }
  /** The next recovery removes the files. */
  | { readonly type: 'filesNotRemoved'; readonly mark: string; readonly error: unknown }
  /** An unrelated process kept an output pipe of the run open. The manager discards what that process still writes to the pipe. */
  | { readonly type: 'outputCutOff'; readonly mark: string; readonly name: string }
  /** The manager did not open the ports of a starting run, because no firewall blocks them. */
  | ({ readonly type: 'portsNotOpened'; readonly why: string } & EventRun)
  /** The manager could not close the ports of a run, and tries again later. The next daemon closes ports that are still open. */
  | { readonly type: 'portsNotClosed'; readonly mark: string; readonly error: unknown }
  | ({ readonly type: 'leftoverEnded' } & RecoveredProcess)
  | ({ readonly type: 'leftoverNotGone' } & RecoveredProcess)
  | { readonly type: 'recordIgnored'; readonly file: string; readonly why: string };
