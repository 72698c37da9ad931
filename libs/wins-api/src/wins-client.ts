import type { CallEvent } from './call-event.js';
import type { CallOptions, StopOptions } from './call-options.js';
import type { ConfigClient } from './config-client.js';
import type { ConnectDaemon, Optional } from '@wins/base';
import type { MethodDefinition } from '@grpc/grpc-js';
import type { ProcessName, ProcessStartRequest, ProcessWaitResponse } from './gen/process.js';
import type { EnforcedLimits, HostRun, RunExit, RunOptions, RunPort } from './host-run.js';
import type { HeldProcess, HoldOptions } from './held-process.js';
import type { DetachedClient } from './detached/detached-client.js';
import type { HostClient } from './host-client.js';
import type { KeepAliveHandle } from './keep-alive-handle.js';

/** Options of a {@link WinsClient}. */
export interface WinsClientOptions {
  /** Pipe: NAME, `npipe:////./pipe/NAME`, `\\.\pipe\NAME`, or outside Windows the path of a socket. Default: `rancher_wins`. */
  readonly address?: string | undefined;
  /**
   * Opens each connection and checks the server's identity before any byte is sent. With `dial`, `address` merely names
   * the daemon in messages. A rejection becomes the `cause` of `unavailable`. Default: trusts any server at `address`.
   */
  readonly dial?: ConnectDaemon | undefined;
  /** Time-out of a connection attempt, in milliseconds. Default 5,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Time-out of a unary call, connecting included, in milliseconds. Default: none. */
  readonly answerTimeoutMs?: number | undefined;
  /** Sent in the header `wins-client` of each call, for the daemon's audit log: up to 128 printable ASCII characters. */
  readonly clientName?: string | undefined;
  /** Receives events of connections and calls, for a log. Default: none. */
  readonly onCallEvent?: ((event: CallEvent) => unknown) | undefined;
}

/** Name of a run, and the id that distinguishes it from later runs of that name. */
export type RunName = Pick<ProcessName, 'value'> & Optional<ProcessName>;

/** State of a run. Daemons of later releases may have further states. */
export type RunState = 'running' | 'stopping' | 'killing' | 'draining' | 'ended';

/** Build of the daemon. */
export interface ApplicationInfo {
  /** SHA-1 digest of the executable, in hexadecimal digits. */
  readonly checksum: string;
  /** `v` and a semantic version. */
  readonly version: string;
  readonly commit: string;
}

/** One of the runs that the daemon lists. */
export interface ListedRun {
  /** `rancher-wins-` and the name of the program. */
  readonly name: string;
  /** Empty for a client that did not start the run. */
  readonly runId: string;
  readonly path: string;
  readonly state: RunState;
  /** PID on the host. */
  readonly pid: number;
  readonly startedAt: Date;
  /** Ports that the host's firewall opens while the program runs. */
  readonly exposes: readonly RunPort[];
  /** SHA-256 digest of the program, in hexadecimal digits. */
  readonly sha256: string;
  /** Undefined when the run has no limits. */
  readonly limits: EnforcedLimits | undefined;
  /** True when the run continues while the daemon is stopped or replaced. */
  readonly outlivesDaemon: boolean;
  /** Name of a detached run that this client may see; otherwise empty. */
  readonly detachedName: string;
}

/** Resource use of one run. */
export interface RunFigures {
  /** `rancher-wins-` and the name of the program. */
  readonly name: string;
  /** File name of the program, as spelled in its entry in the list of allowed programs. */
  readonly entry: string;
  readonly state: RunState;
  readonly startedAt: Date;
  /** Undefined when the system does not report it. */
  readonly usage?: RunUsage | undefined;
  /** Bytes that the run has written to standard output so far. */
  readonly stdoutBytes: number;
  /** Bytes that the run has written to standard error so far. */
  readonly stderrBytes: number;
  /** Number of times the run waited for a reader of its output. */
  readonly outputPauses: number;
  /** Undefined when the run has no limits. */
  readonly limits: EnforcedLimits | undefined;
  /** Name of a detached run; otherwise empty. */
  readonly detachedName: string;
}

/** Resource use of a run and its descendants. */
export interface RunUsage {
  /** Processor time in milliseconds, including processes that have ended. */
  readonly cpuMs: number;
  /** Resident memory in bytes; memory shared by several processes counts for each. */
  readonly memoryBytes: number;
  readonly processes: number;
}

/** Resource use of runs. */
export interface RunStats {
  /** Time of the measurement, in microseconds of a monotonic clock of the daemon. */
  readonly takenAtUs: number;
  readonly runs: readonly RunFigures[];
}

/** Program to start, and a digest that the daemon compares with the host's file. */
export type StartRequest = Optional<ProcessStartRequest> &
  Pick<ProcessStartRequest, 'path'> &
  (Pick<ProcessStartRequest, 'checksum'> | Pick<ProcessStartRequest, 'checksumSha256'>);

/** Options of {@link WinsClient.startProcess}. */
export interface StartOptions extends CallOptions {
  /** Receives each warning of the daemon about a successful start; the text is untrusted. */
  readonly onWarning?: ((text: string) => unknown) | undefined;
  /**
   * Called for a run with `OutlivesDaemon`. After the daemon stops, the run waits `leaseMs` for its client.
   * Pass the time to `holdProcess`.
   */
  readonly onLease?: ((leaseMs: number) => unknown) | undefined;
}

/** Calls to one daemon. Opens the connection when needed. Methods reject with a `WinsClientError`. */
export interface WinsClient extends AsyncDisposable {
  readonly host: HostClient;
  readonly config: ConfigClient;
  readonly detached: DetachedClient;
  /** Starts a program of the host and keeps it alive. */
  run(options: RunOptions): Promise<HostRun>;
  /** Starts a program. Call `keepAlive` soon: otherwise the daemon ends the process. */
  startProcess(request: StartRequest, options?: StartOptions): Promise<ProcessName>;
  /**
   * Follows a process to its end. Iterate the result exactly once; if you do not iterate it, abort the call. The daemon
   * pauses the stream while chunks are unread. Output is a view of the received message: copy bytes that you keep for long.
   */
  waitProcess(name: RunName, options?: CallOptions): AsyncIterable<ProcessWaitResponse>;
  /** Keeps a process alive: sends its name at once and every five minutes. The daemon stops the process when the call ends. */
  keepAlive(name: RunName, options?: CallOptions): KeepAliveHandle;
  /**
   * Keeps a process alive and reads its output; with `leaseMs`, through restarts of the daemon. Call it soon after `startProcess`, instead of
   * `keepAlive` and `waitProcess`.
   */
  holdProcess(name: ProcessName, options?: HoldOptions): HeldProcess;
  info(options?: CallOptions): Promise<ApplicationInfo>;
  /** True when the daemon accepts new work. A Go daemon answers `unimplemented`. */
  isServing(options?: CallOptions): Promise<boolean>;
  /** A Go daemon answers `unimplemented`. */
  listProcesses(options?: CallOptions): Promise<readonly ListedRun[]>;
  /** Stops a process and resolves when its whole tree is gone. A Go daemon answers `unimplemented`. */
  stopProcess(run: string | RunName, options?: StopOptions): Promise<RunExit>;
  /**
   * Measures this client's runs, or all runs for an administrator. `name` selects one run. The daemon reuses a
   * measurement for up to 1 s.
   */
  measureRuns(name?: string, options?: CallOptions): Promise<RunStats>;
  /** Makes a unary call that no other method covers, such as `planServiceDefinition.status` of the contract. */
  call<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    options?: CallOptions,
  ): Promise<Answer>;
  /** Like {@link waitProcess}, for any server-streaming call. `answerTimeoutMs` does not apply. */
  stream<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    options?: CallOptions,
  ): AsyncIterable<Answer>;
  /** Cancels open calls and resolves when the connection is closed. Idempotent. */
  close(): Promise<void>;
}
