import type { CallEvent } from './call-event.js';
import type { CallOptions } from './call-options.js';
import type { ConfigClient } from './config-client.js';
import type { ConnectDaemon, Optional } from '@wins/base';
import type { MethodDefinition } from '@grpc/grpc-js';
import type { ProcessName, ProcessStartRequest, ProcessWaitResponse } from './gen/process.js';
import type { HostRun, RunOptions } from './host-run.js';
import type { HeldProcess, HoldOptions } from './held-process.js';
import type { HostClient } from './host-client.js';
import type { KeepAliveHandle } from './keep-alive-handle.js';
import type { RunName, RunsClient } from './runs/runs-client.js';

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

/** Build of the daemon. */
export interface ApplicationInfo {
  /** SHA-1 digest of the executable, in hexadecimal digits. */
  readonly checksum: string;
  /** `v` and a semantic version. */
  readonly version: string;
  readonly commit: string;
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
  readonly runs: RunsClient;
  /** Starts a program of the host and keeps it alive. */
  run(options: RunOptions): Promise<HostRun>;
  /** Starts a program. Call `keepAlive` soon: otherwise the daemon ends the process, unless the request has `keep`. */
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
