import type { CallEvent } from './call-event.js';
import type { CallOptions } from './call-options.js';
import type { ConfigClient } from './config-client.js';
import type { ConnectDaemon } from './grpc-js/dialled-transport.js';
import type { MethodDefinition } from '@grpc/grpc-js';
import type { ProcessName, ProcessStartRequest, ProcessWaitResponse } from './gen/process.js';
import type { EnforcedLimits, HostRun, RunExit, RunOptions } from './host-run.js';
import type { HostClient } from './host-client.js';
import type { KeepAliveHandle } from './keep-alive-handle.js';

/** How to reach a daemon. */
export interface WinsClientOptions {
  /**
   * The daemon's pipe, as `--server` of the program takes it: NAME, `npipe:////./pipe/NAME`, `\\.\pipe\NAME` or, not on
   * Windows, the absolute path of a Unix socket. Default: `rancher_wins`.
   */
  readonly address?: string;
  /**
   * Opens each connection, and judges who serves it before a byte is sent: no other is made then, and `address` only names the
   * daemon. A rejection is the `cause` of the `unavailable` error of the call that wanted the connection. Default: any server
   * of `address` is accepted.
   */
  readonly dial?: ConnectDaemon;
  /** How long a call waits for a connection that neither succeeds nor fails, in milliseconds. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /**
   * How long a call with one answer waits for it, the connection included, in milliseconds; then it is cancelled and rejects
   * with `deadlineExceeded`. `waitProcess` and `keepAlive` wait as long as their process runs. Default: as long as it takes.
   */
  readonly answerTimeoutMs?: number;
  /** Sent with each call as `wins-client`, for the daemon's audit log: up to 128 printable ASCII characters. */
  readonly clientName?: string;
  /** Follows connections and calls, for a log. It must not throw. Default: nobody does, and nothing is measured. */
  readonly onCallEvent?: (event: CallEvent) => void;
}

/** Which run: its name, and the id that tells it from the next one of that name. */
export type RunName = Pick<ProcessName, 'Value'> & Partial<ProcessName>;

/** How far a run is; a daemon of a later release may know more. */
export type RunState = 'running' | 'stopping' | 'killing' | 'draining' | 'ended';

/** Which build of the daemon answers. */
export interface ApplicationInfo {
  /** The SHA-1 digest of its executable, in hexadecimal digits. */
  readonly checksum: string;
  /** `v` and a semantic version. */
  readonly version: string;
  readonly commit: string;
}

/** A run of the daemon. */
export interface ListedRun {
  /** `rancher-wins-` and the name of the program. */
  readonly name: string;
  /** Tells it from the next run of that name; empty for a client that did not start it. */
  readonly runId: string;
  /** The program on the host. */
  readonly path: string;
  readonly state: RunState;
  /** The number of its process on the host. */
  readonly pid: number;
  readonly startedAt: Date;
  /** Ports that are open in the host's firewall for as long as it runs. */
  readonly exposes: readonly { readonly port: number; readonly protocol: 'TCP' | 'UDP' }[];
  /** The SHA-256 digest of the program, in hexadecimal digits. */
  readonly sha256: string;
  /** Undefined without any. */
  readonly limits: EnforcedLimits | undefined;
  /** Whether it goes on when the daemon is stopped or replaced. */
  readonly outlivesDaemon: boolean;
}

/** Resource use of one run. */
export interface RunFigures {
  /** Name as in {@link ListedRun}. */
  readonly name: string;
  /** The file name of the program in the list of what may run. */
  readonly entry: string;
  readonly state: RunState;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Processor time, and memory of its processes; undefined when the system does not tell. */
  readonly usage?: RunUsage | undefined;
  readonly stdOutBytes: number;
  readonly stdErrBytes: number;
  /** How often the run waited for a reader of its output. */
  readonly outputPauses: number;
  /** Undefined without any. */
  readonly limits: EnforcedLimits | undefined;
}

/** Resources that a run and all that it started have used. */
export interface RunUsage {
  /** Processor time, of processes that have ended too. */
  readonly cpuMs: number;
  /** Memory in RAM; what processes share is counted for each. */
  readonly memoryBytes: number;
  readonly processes: number;
}

/** Resource use of runs. */
export interface RunStats {
  /** When they were measured, in microseconds of a clock of the daemon that only goes forward. */
  readonly takenAtUs: number;
  readonly runs: readonly RunFigures[];
}

/** How a process is stopped. */
export interface StopOptions extends CallOptions {
  /**
   * Ends it by force at once, also while it is being stopped; only for the client that started it, with the run id, or for an administrator of the host. Default
   * false: it is asked to end, and forced 10 s later.
   */
  readonly force?: boolean;
}

/** Program to start and a digest of its bytes, which the daemon compares with the host's; all else may be left out. */
export type StartRequest = Partial<ProcessStartRequest> &
  Pick<ProcessStartRequest, 'Path'> &
  (Pick<ProcessStartRequest, 'Checksum'> | Pick<ProcessStartRequest, 'ChecksumSHA256'>);

/** How a program is started. */
export interface StartOptions extends CallOptions {
  /** Gets each warning of the daemon about a start that succeeded, such as a port that it did not open: foreign text. */
  readonly onWarning?: (text: string) => void;
  /**
   * Gets for how many milliseconds the run waits for its client when the daemon goes away. `OutlivesDaemon` requests such a run, and
   * `LastingRuns` has its output. Not called for a run that ends with the daemon.
   */
  readonly onLease?: (leaseMs: number) => void;
}

/**
 * The calls to one daemon. Their connection is made by the first call and again after it was lost. Each method rejects with a
 * `WinsClientError`. Its creator closes it, or declares it with `await using`.
 */
export interface WinsClient extends AsyncDisposable {
  /** Calls about the host itself: its version, networks and routes. */
  readonly host: HostClient;
  /** Calls about the config of the daemon. */
  readonly config: ConfigClient;
  /** Runs a program of the host, holds it, and gives its output and its end. */
  run(options: RunOptions): Promise<HostRun>;
  /** Starts a program. Open `keepAlive` with the name soon: the daemon ends a process that no one keeps. */
  startProcess(request: StartRequest, options?: StartOptions): Promise<ProcessName>;
  /**
   * Follows a process to its end. The call goes out at once; iterate it, once, or abort it. Chunks that are not taken hold up
   * the daemon's side, so memory stays bounded. Output is a view of the received message: copy what you keep for long.
   */
  waitProcess(name: RunName, options?: CallOptions): AsyncIterable<ProcessWaitResponse>;
  /** Holds a process: sends its name at once and every five minutes. The process is stopped when this ends. */
  keepAlive(name: RunName, options?: CallOptions): KeepAliveHandle;
  /** Asks which build of the daemon answers. */
  info(options?: CallOptions): Promise<ApplicationInfo>;
  /** Asks whether the daemon takes new work. A Go daemon answers `unimplemented`. */
  isServing(options?: CallOptions): Promise<boolean>;
  /** Names the processes that the daemon runs. A Go daemon answers `unimplemented`. */
  listProcesses(options?: CallOptions): Promise<readonly ListedRun[]>;
  /** Stops a process and resolves when its whole tree is gone. A Go daemon answers `unimplemented`. */
  stopProcess(run: string | RunName, options?: StopOptions): Promise<RunExit>;
  /**
   * Measures the runs of this client, and all for an administrator of the host; or one, by its name. A caller within a second of
   * another gets the same figures. A daemon of an earlier release answers `unimplemented`.
   */
  measureRuns(name?: string, options?: CallOptions): Promise<RunStats>;
  /** Makes a call that has one answer, of a service without a method here: `planServiceDefinition.status` of the contract. */
  call<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    options?: CallOptions,
  ): Promise<Answer>;
  /**
   * Makes a call whose answer is many messages: `debugServiceDefinition.heap` of the contract. The call goes out at once; iterate it,
   * once, or abort it. Messages that are not taken hold up the daemon's side. `answerTimeoutMs` does not end it.
   */
  stream<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    options?: CallOptions,
  ): AsyncIterable<Answer>;
  /** Cancels what is under way and resolves when the connection is closed. May be called again. */
  close(): Promise<void>;
}
