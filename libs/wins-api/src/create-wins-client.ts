import { Client, connectivityState, Metadata, status } from '@grpc/grpc-js';
import type { MethodDefinition, ServiceError } from '@grpc/grpc-js';
import type { Socket } from 'node:net';
import { fromServiceError, isServiceError, WinsClientError } from './client-error.js';
import { checkOptions, CLIENT_NAME_METADATA_KEY } from './client-options.js';
import { WINS_CLIENT_WINDOW_BYTES } from './client-window.js';
import { dialOptions } from './grpc-js/dialled-transport.js';
import type { ConnectDaemon } from './grpc-js/dialled-transport.js';
import type { Void } from './gen/common.js';
import { ProcessName, ProcessStartRequest } from './gen/process.js';
import type { ProcessWaitResponse } from './gen/process.js';
import { createKeepAliveHandle } from './keep-alive-handle.js';
import type { KeepAliveHandle } from './keep-alive-handle.js';
import { OpenCalls } from './open-calls.js';
import type { CallDone } from './open-calls.js';
import { processServiceDefinition } from './definitions/process-service-definition.js';
import type { RawClient, StartOptions, StartRequest } from './raw-client.js';
import { readToEnd } from './read-to-end.js';
import { runToEnd } from './run-to-end.js';
import type { ProcessResult, RunProcessOptions } from './run-process-options.js';
import { SocketCredentials } from './grpc-js/socket-credentials.js';
import { methodName, UnaryCalls } from './unary-calls.js';
import type { CallOptions, RunName, WinsClient, WinsClientOptions } from './wins-client.js';

/** The largest message that is sent or taken, in bytes; a larger one fails its call. Chunks of output have 64 KiB. */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;
/** How long `close` lets a connection end in good order before it cuts it. */
const CLOSE_GRACE_MS = 1000;

/** Takes the outcome of a call in the words of grpc-js. */
type ServiceDone<T> = (error: ServiceError | null, answer?: T) => void;

class GrpcWinsClient extends UnaryCalls implements RawClient {
  readonly #client: Client;
  readonly #credentials = new SocketCredentials();
  readonly #calls: OpenCalls;
  readonly #metadata = new Metadata();
  readonly #answerTimeoutMs: number | undefined;
  #closing: Promise<void> | undefined;
  #dialFailure: unknown;

  constructor(options: WinsClientOptions) {
    const { address, connectTimeoutMs, clientName } = checkOptions(options);
    super(address);
    this.#answerTimeoutMs = options.answerTimeoutMs;
    if (clientName !== '') this.#metadata.set(CLIENT_NAME_METADATA_KEY, clientName);
    const { dial } = options;
    this.#client = new Client(`unix:${address}`, this.#credentials, {
      ...(dial && dialOptions(() => this.#dial(dial))),
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
    const { onCallEvent } = options;
    const connection = {
      isConnected: () =>
        this.#client.getChannel().getConnectivityState(false) === connectivityState.READY,
      onConnected: (tell: () => void) =>
        this.#client.waitForReady(Infinity, (error) => error === undefined && tell()),
    };
    this.#calls = new OpenCalls({ connection, address, connectTimeoutMs, onCallEvent });
  }

  runProcess(options: RunProcessOptions): Promise<ProcessResult> {
    return runToEnd(this, options);
  }

  async startProcess(
    request: StartRequest,
    { onWarning, ...options }: StartOptions = {},
  ): Promise<ProcessName> {
    const whole = ProcessStartRequest.fromPartial(request);
    const answer = await this.unary('Start', processServiceDefinition.start, whole, options);
    const name = this.present('Start', answer.Data);
    for (const warning of answer.Warnings) onWarning?.(warning);
    return name;
  }

  waitProcess(name: RunName, options: CallOptions = {}): AsyncIterable<ProcessWaitResponse> {
    const request = { Data: ProcessName.fromPartial(name) };
    return this.stream(processServiceDefinition.wait, request, options);
  }

  stream<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    { signal }: CallOptions = {},
  ): AsyncIterable<Answer> {
    const { path, requestSerialize, responseDeserialize } = method;
    const name = methodName(method);
    const { call, result } = this.#calls.begin(name, signal, (ended: CallDone<void>) => {
      const done = this.#translating(name, ended);
      return this.#client
        .makeServerStreamRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          this.#metadata,
        )
        .on('error', (error) => isServiceError(error) && done(error))
        .on('status', ({ code }) => code === status.OK && done(null));
    });
    return readToEnd<Answer>(call, result);
  }

  keepAlive(name: RunName, { signal }: CallOptions = {}): KeepAliveHandle {
    const Data = ProcessName.fromPartial(name);
    const { path, requestSerialize, responseDeserialize } = processServiceDefinition.keepAlive;
    const { call, result } = this.#calls.begin('KeepAlive', signal, (done: CallDone<Void>) =>
      this.#client.makeClientStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        this.#metadata,
        this.#translating('KeepAlive', done),
      ),
    );
    return createKeepAliveHandle({ Data }, call, result);
  }

  override close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    await this.#calls.close();
    this.#client.close();
    await this.#credentials.close(this.#calls.foundSilence ? 0 : CLOSE_GRACE_MS);
  }

  async #dial(dial: ConnectDaemon): Promise<Socket> {
    try {
      const socket = await dial();
      this.#dialFailure = undefined;
      return socket;
    } catch (error) {
      this.#dialFailure = error;
      throw error;
    }
  }

  override unary<Request, Answer>(
    name: string,
    method: MethodDefinition<Request, Answer>,
    request: Request,
    { signal }: CallOptions,
  ): Promise<Answer> {
    const { path, requestSerialize, responseDeserialize } = method;
    return this.#calls.begin(
      name,
      signal,
      (done: CallDone<Answer>) =>
        this.#client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          this.#metadata,
          this.#translating(name, done),
        ),
      this.#answerTimeoutMs,
    ).result;
  }

  #translating<T>(method: string, done: CallDone<T>): ServiceDone<T> {
    return (error, answer) =>
      error === null ? done(null, answer) : done(this.#translate(error, method));
  }

  #translate(error: ServiceError, method: string): WinsClientError {
    const { address } = this;
    const cause = this.#dialFailure;
    const translated = fromServiceError(error, { method, address });
    const found = cause instanceof Error ? cause.message : 'no reason was given';
    // grpc-js quotes why the latest connection failed: a failure from before is not why this one did.
    const dialled = cause !== undefined && error.details.includes(found);
    if (translated.code !== 'unavailable' || translated.connectionLost || !dialled) {
      return translated;
    }
    const details = `no connection: ${found}`;
    const grpcCode = error.code;
    return new WinsClientError('unavailable', { method, address, details, grpcCode, cause });
  }
}

/**
 * Makes a client of the daemon at an address. Nothing is opened before the first call; the caller closes the client.
 *
 * @throws WinsClientError `invalidRequest` when an option is invalid
 */
export function createWinsClient(options: WinsClientOptions = {}): WinsClient {
  return createRawClient(options);
}

/**
 * Makes a client that has the calls of the protocol too, one by one.
 *
 * @throws WinsClientError `invalidRequest` when an option is invalid
 */
export function createRawClient(options: WinsClientOptions = {}): RawClient {
  return new GrpcWinsClient(options);
}
