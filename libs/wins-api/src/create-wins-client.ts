import { Client, Metadata, status } from '@grpc/grpc-js';
import type { MethodDefinition } from '@grpc/grpc-js';
import { DEFAULT_PIPE_NAME, PipeNameError, quoteText, resolvePipePath } from '@wins/wins-program';
import type { Socket } from 'node:net';
import type { CallEvent } from './call-event.js';
import { isServiceError, WinsClientError } from './client-error.js';
import { WINS_CLIENT_WINDOW_BYTES } from './client-window.js';
import { createConfigClient } from './config-client.js';
import type { ConfigClient } from './config-client.js';
import { dialOptions } from './dialled-transport.js';
import type { ConnectDaemon } from './dialled-transport.js';
import { ApplicationServiceService } from './gen/application.js';
import type { ApplicationInfo } from './gen/application.js';
import type { Void } from './gen/common.js';
import { ProcessName, ProcessStartRequest } from './gen/process.js';
import type { ProcessExit, ProcessSummary, ProcessWaitResponse } from './gen/process.js';
import { healthCheckDefinition } from './health-check-definition.js';
import { createHostClient } from './host-client.js';
import type { HostClient } from './host-client.js';
import { createKeepAliveHandle } from './keep-alive-handle.js';
import type { KeepAliveHandle } from './keep-alive-handle.js';
import { OpenCalls } from './open-calls.js';
import type { CallDone } from './open-calls.js';
import { processServiceDefinition } from './process-service-definition.js';
import type { RawClient, RunName, StartRequest } from './raw-client.js';
import { readToEnd } from './read-to-end.js';
import { runToEnd } from './run-to-end.js';
import type { ProcessResult, RunProcessOptions } from './run-to-end.js';
import { SocketCredentials } from './socket-credentials.js';

/** The metadata key that carries `clientName`. */
export const CLIENT_NAME_METADATA_KEY = 'wins-client';

/** The largest message that is sent or taken, in bytes; a larger one fails its call. Chunks of output have 64 KiB. */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;
/** How long `close` lets a connection end in good order before it cuts it. */
const CLOSE_GRACE_MS = 1000;
const DEFAULT_CONNECT_TIMEOUT_MS = 5000;
/** The longest delay that a timer takes. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** How to reach a daemon. */
export interface WinsClientOptions {
  /**
   * The daemon's pipe, as `--server` of the program takes it: NAME, `npipe:////./pipe/NAME`, `\\.\pipe\NAME` or, not on
   * Windows, the absolute path of a Unix socket. Default: `rancher_wins`.
   */
  readonly address?: string;
  /**
   * Opens each connection, and judges who serves it before a byte is sent: no other is made then, and `address` only names the
   * daemon. A rejection is the `cause` of the `unavailable` error of the call that wanted the connection. Default: whoever
   * serves `address` is spoken to.
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

/** What every call takes. */
export interface CallOptions {
  /** Aborting it ends the call with the code `cancelled`. */
  readonly signal?: AbortSignal;
}

/** How a process is stopped. */
export interface StopOptions extends CallOptions {
  /**
   * Ends it by force at once, also while it is being stopped; only for the client that started it, or with the run id. Default
   * false: it is asked to end, and forced 10 s later.
   */
  readonly force?: boolean;
}

/**
 * A connection to one daemon, made by the first call and again after it was lost. Each method rejects with a
 * `WinsClientError`. Whoever created it closes it, or says `await using`.
 */
export interface WinsClient extends AsyncDisposable {
  /** Calls about the host itself: its version, networks and routes. */
  readonly host: HostClient;
  /** Calls about the config of the daemon. */
  readonly config: ConfigClient;
  /** Makes a call that has one answer, of a service that has no method here: `planServiceDefinition.status` of the door `raw`. */
  call<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    options?: CallOptions,
  ): Promise<Answer>;
  /** Runs a program of the host and follows it to its end. */
  runProcess(options: RunProcessOptions): Promise<ProcessResult>;
  /** Asks which build of the daemon answers. */
  info(options?: CallOptions): Promise<ApplicationInfo>;
  /** Asks whether the daemon takes new work. A Go daemon answers `unimplemented`. */
  isServing(options?: CallOptions): Promise<boolean>;
  /** Names the processes that the daemon runs. A Go daemon answers `unimplemented`. */
  listProcesses(options?: CallOptions): Promise<ProcessSummary[]>;
  /** Stops a process and resolves when its whole tree is gone. A Go daemon answers `unimplemented`. */
  stopProcess(name: RunName, options?: StopOptions): Promise<ProcessExit>;
  /** Cancels what is under way and resolves when the connection is closed. May be called again. */
  close(): Promise<void>;
}

const CLIENT_NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/;

function checkOptions(
  options: WinsClientOptions,
): Required<Omit<WinsClientOptions, 'dial' | 'answerTimeoutMs' | 'onCallEvent'>> {
  const { connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS, clientName = '' } = options;
  const refuse = (details: string) => new WinsClientError('invalidRequest', { details });
  const address = addressOf(options.address ?? DEFAULT_PIPE_NAME);
  const { answerTimeoutMs = MAX_TIMEOUT_MS } = options;
  for (const [name, timeoutMs] of Object.entries({ connectTimeoutMs, answerTimeoutMs })) {
    if (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS) continue;
    throw refuse(`invalid ${name} ${timeoutMs}: wanted 1 to ${MAX_TIMEOUT_MS}`);
  }
  if (clientName !== '' && !CLIENT_NAME.test(clientName)) {
    throw refuse(
      `invalid clientName ${quoteText(clientName)}: ` +
        'wanted at most 128 printable ASCII characters that neither start nor end with a space',
    );
  }
  return { address, connectTimeoutMs, clientName };
}

function addressOf(pipe: string): string {
  try {
    return resolvePipePath(pipe).address;
  } catch (error) {
    if (!(error instanceof PipeNameError)) throw error;
    throw new WinsClientError('invalidRequest', { details: error.message, cause: error });
  }
}

class GrpcWinsClient implements RawClient {
  readonly host: HostClient;
  readonly config: ConfigClient;
  private readonly client: Client;
  private readonly credentials = new SocketCredentials();
  private readonly calls: OpenCalls;
  private readonly metadata = new Metadata();
  private readonly address: string;
  private readonly answerTimeoutMs: number | undefined;
  private closing: Promise<void> | undefined;
  private dialFailure: unknown;

  constructor(options: WinsClientOptions) {
    const { address, connectTimeoutMs, clientName } = checkOptions(options);
    this.address = address;
    this.answerTimeoutMs = options.answerTimeoutMs;
    if (clientName !== '') this.metadata.set(CLIENT_NAME_METADATA_KEY, clientName);
    const { dial } = options;
    this.client = new Client(`unix:${address}`, this.credentials, {
      ...(dial && dialOptions(() => this.dial(dial))),
      'grpc.default_authority': 'localhost',
      // Connections belong to this object alone: another client may have another dial.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.service_config_disable_resolution': 1,
      'grpc.enable_retries': 0,
      'grpc.enable_http_proxy': 0,
      'grpc.enable_channelz': 0,
      // The daemon is on the same machine: when it restarts it is back within a second.
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1000,
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
      'grpc-node.flow_control_window': WINS_CLIENT_WINDOW_BYTES,
    });
    this.calls = new OpenCalls({
      client: this.client,
      address,
      connectTimeoutMs,
      dialFailure: () => this.dialFailure,
      onCallEvent: options.onCallEvent,
    });
    this.host = createHostClient({
      unary: (name, method, request, callOptions) => this.unary(name, method, request, callOptions),
      present: (method, value) => this.present(method, value),
    });
    this.config = createConfigClient({
      unary: (name, method, request, callOptions) => this.unary(name, method, request, callOptions),
    });
  }

  call<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    options: CallOptions = {},
  ): Promise<Answer> {
    const name = method.path.slice(method.path.lastIndexOf('/') + 1);
    return this.unary(name, method, request, options);
  }

  async info(options: CallOptions = {}): Promise<ApplicationInfo> {
    const { Info } = await this.unary('Info', ApplicationServiceService.info, {}, options);
    return this.present('Info', Info);
  }

  isServing(options: CallOptions = {}): Promise<boolean> {
    return this.unary('Check', healthCheckDefinition, {}, options);
  }

  runProcess(options: RunProcessOptions): Promise<ProcessResult> {
    return runToEnd(this, options);
  }

  async startProcess(request: StartRequest, options: CallOptions = {}): Promise<ProcessName> {
    const whole = ProcessStartRequest.fromPartial(request);
    const { Data } = await this.unary('Start', processServiceDefinition.start, whole, options);
    return this.present('Start', Data);
  }

  waitProcess(name: RunName, { signal }: CallOptions = {}): AsyncIterable<ProcessWaitResponse> {
    const { path, requestSerialize, responseDeserialize } = processServiceDefinition.wait;
    const request = { Data: ProcessName.fromPartial(name) };
    const { call, result } = this.calls.begin('Wait', signal, (done: CallDone<void>) =>
      this.client
        .makeServerStreamRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          this.metadata,
        )
        .on('error', (error) => isServiceError(error) && done(error))
        .on('status', ({ code }) => code === status.OK && done(null)),
    );
    return readToEnd<ProcessWaitResponse>(call, result);
  }

  keepAlive(name: RunName, { signal }: CallOptions = {}): KeepAliveHandle {
    const Data = ProcessName.fromPartial(name);
    const { path, requestSerialize, responseDeserialize } = processServiceDefinition.keepAlive;
    const { call, result } = this.calls.begin('KeepAlive', signal, (done: CallDone<Void>) =>
      this.client.makeClientStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        this.metadata,
        done,
      ),
    );
    return createKeepAliveHandle({ Data }, call, result);
  }

  async listProcesses(options: CallOptions = {}): Promise<ProcessSummary[]> {
    return (await this.unary('List', processServiceDefinition.list, {}, options)).Data;
  }

  async stopProcess(name: RunName, options: StopOptions = {}): Promise<ProcessExit> {
    const request = { Data: ProcessName.fromPartial(name), Force: options.force ?? false };
    const { Data } = await this.unary('Stop', processServiceDefinition.stop, request, options);
    return this.present('Stop', Data);
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async shutDown(): Promise<void> {
    await this.calls.close();
    this.client.close();
    await this.credentials.close(this.calls.foundSilence ? 0 : CLOSE_GRACE_MS);
  }

  private async dial(dial: ConnectDaemon): Promise<Socket> {
    try {
      const socket = await dial();
      this.dialFailure = undefined;
      return socket;
    } catch (error) {
      this.dialFailure = error;
      throw error;
    }
  }

  private unary<Request, Answer>(
    name: string,
    method: MethodDefinition<Request, Answer>,
    request: Request,
    { signal }: CallOptions,
  ): Promise<Answer> {
    const { path, requestSerialize, responseDeserialize } = method;
    return this.calls.begin(
      name,
      signal,
      (done: CallDone<Answer>) =>
        this.client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          this.metadata,
          done,
        ),
      this.answerTimeoutMs,
    ).result;
  }

  private present<T>(method: string, value: T | undefined): T {
    if (value !== undefined) return value;
    const { address } = this;
    const details = 'found an empty answer; wanted one with data';
    throw new WinsClientError('internal', { method, address, details });
  }
}

/**
 * Makes a client of the daemon at an address. Nothing is opened before the first call; the caller closes the client.
 *
 * @throws WinsClientError `invalidRequest` when an option makes no sense
 */
export function createWinsClient(options: WinsClientOptions = {}): WinsClient {
  return createRawClient(options);
}

/**
 * Makes a client that has the calls of the protocol too, one by one.
 *
 * @throws WinsClientError `invalidRequest` when an option makes no sense
 */
export function createRawClient(options: WinsClientOptions = {}): RawClient {
  return new GrpcWinsClient(options);
}
