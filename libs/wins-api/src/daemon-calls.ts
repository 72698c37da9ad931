import { reporter, type ConnectDaemon } from '@wins/base';
import {
  Client,
  connectivityState,
  Metadata,
  status,
  type ClientWritableStream,
  type MethodDefinition,
  type ServiceError,
} from '@grpc/grpc-js';
import type { Socket } from 'node:net';
import type { CallEvent } from './call-event.js';
import type { CallOptions } from './call-options.js';
import {
  fromServiceError,
  isServiceError,
  WinsClientError,
  type WinsClientErrorCode,
} from './client-error.js';
import { checkOptions, CLIENT_NAME_METADATA_KEY } from './client-options.js';
import { dialOptions } from './grpc-js/dialled-transport.js';
import { SocketCredentials } from './grpc-js/socket-credentials.js';
import { readToEnd } from './read-to-end.js';
import type { WinsClientOptions } from './wins-client.js';

/** A call with a larger message fails. Output chunks have at most 64 KiB. */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;
/**
 * Flow-control window of a stream, just under 1 MiB. With the default of 64 KiB, a stream waits five times as long for
 * its reader. The size is not a round number, because older daemons treat clients with a round number as Go
 * clients. They check every octet from Go clients.
 */
const WINDOW_BYTES = 0xffffd;
/** After this time `close` destroys the connection. */
const CLOSE_GRACE_MS = 1000;

type CallDone<T> = (error: ServiceError | null, answer?: T) => void;

interface Begun<T, C> {
  readonly call: C | undefined;
  readonly result: Promise<T>;
}

function wireOf<Request, Answer>(method: MethodDefinition<Request, Answer>) {
  return [method.path, method.requestSerialize, method.responseDeserialize] as const;
}

// Replaces Promise.withResolvers, which the oldest supported Node lacks.
function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: WinsClientError) => void = () => undefined;
  const promise = new Promise<T>((resolveIt, rejectIt) => {
    resolve = resolveIt;
    reject = rejectIt;
  });
  return { promise, resolve, reject };
}

/**
 * Calls of one client over a grpc-js channel. `close`, an abort signal, or a time-out ends a call early.
 */
export class DaemonCalls {
  readonly address: string;
  readonly #client: Client;
  readonly #credentials = new SocketCredentials();
  readonly #metadata = new Metadata();
  readonly #connectTimeoutMs: number;
  readonly #answerTimeoutMs: number | undefined;
  readonly #onCallEvent: ((event: CallEvent) => void) | undefined;
  /** Maps the result promise of each open call to its cancel function. */
  readonly #open = new Map<Promise<unknown>, () => void>();
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;
  #dialFailure: unknown;
  /** True after a time-out. `close` then destroys the connection without a grace period. */
  #isSilent = false;
  #count = 0;
  #isConnecting = false;

  /** @throws WinsClientError `invalidRequest` when an option is invalid */
  constructor(options: WinsClientOptions) {
    const { address, connectTimeoutMs, clientName } = checkOptions(options);
    const { answerTimeoutMs, dial, onCallEvent } = options;
    this.address = address;
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#onCallEvent = onCallEvent && reporter(onCallEvent);
    if (clientName !== '') this.#metadata.set(CLIENT_NAME_METADATA_KEY, clientName);
    this.#client = new Client(`unix:${address}`, this.#credentials, {
      ...(dial && dialOptions(() => this.#dial(dial))),
      'grpc.default_authority': 'localhost',
      // Share no connections, because other clients may use another `dial`.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.service_config_disable_resolution': 1,
      'grpc.enable_retries': 0,
      'grpc.enable_http_proxy': 0,
      'grpc.enable_channelz': 0,
      // The daemon runs on the same machine and is back within a second of a restart.
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1000,
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
      'grpc-node.flow_control_window': WINDOW_BYTES,
    });
  }

  unary<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    { signal }: CallOptions = {},
  ): Promise<Answer> {
    const start = (done: CallDone<Answer>) =>
      this.#client.makeUnaryRequest(...wireOf(method), request, this.#metadata, done);
    return this.#begin(method, signal, start, this.#answerTimeoutMs).result;
  }

  stream<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    { signal }: CallOptions = {},
  ): AsyncIterable<Answer> {
    const { call, result } = this.#begin(method, signal, (done: CallDone<void>) =>
      this.#client
        .makeServerStreamRequest(...wireOf(method), request, this.#metadata)
        .on('error', (error) => isServiceError(error) && done(error))
        .on('status', ({ code }) => code === status.OK && done(null)),
    );
    return readToEnd<Answer>(call, result);
  }

  send<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    { signal }: CallOptions = {},
  ): Begun<Answer, ClientWritableStream<Request>> {
    return this.#begin(method, signal, (done: CallDone<Answer>) =>
      this.#client.makeClientStreamRequest(...wireOf(method), this.#metadata, done),
    );
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#shutDown());
  }

  async #shutDown(): Promise<void> {
    this.#closed.abort(new Error('the client was closed'));
    const results = [...this.#open.keys()];
    for (const cancel of [...this.#open.values()]) cancel();
    await Promise.allSettled(results);
    this.#client.close();
    await this.#credentials.close(this.#isSilent ? 0 : CLOSE_GRACE_MS);
  }

  async #dial(dial: ConnectDaemon): Promise<Socket> {
    try {
      const socket = await dial(this.#closed.signal);
      this.#dialFailure = undefined;
      return socket;
    } catch (error) {
      this.#dialFailure = error;
      throw error;
    }
  }

  #begin<T, C extends { cancel(): void }>(
    definition: { readonly path: string },
    signal: AbortSignal | undefined,
    start: (done: CallDone<T>) => C,
    answerTimeoutMs?: number,
  ): Begun<T, C> {
    const method = methodName(definition);
    if (this.#closed.signal.aborted)
      return { call: undefined, result: Promise.reject(this.#clientClosed(method)) };
    if (signal?.aborted === true)
      return { call: undefined, result: Promise.reject(this.#cancelled(method, signal.reason)) };
    const { promise: result, resolve, reject } = withResolvers<T>();
    const call = start((error, answer) => {
      if (error === null) resolve(answer as T);
      else reject(this.#translate(error, method));
    });
    // Reject first, so that the later status of the cancelled call is ignored.
    const end = (reason: WinsClientError) => {
      reject(reason);
      call.cancel();
    };
    const onAbort = () => end(this.#cancelled(method, signal?.reason));
    signal?.addEventListener('abort', onAbort, { once: true });
    const watch = this.#watchConnection(() => end(this.#notConnected(method)));
    const late =
      answerTimeoutMs === undefined
        ? undefined
        : setTimeout(() => end(this.#notAnswered(method, answerTimeoutMs)), answerTimeoutMs);
    const forget = () => {
      clearTimeout(watch);
      clearTimeout(late);
      signal?.removeEventListener('abort', onAbort);
      this.#open.delete(result);
    };
    this.#open.set(result, () => end(this.#cancelled(method, this.#clientClosed(method))));
    result.then(forget, forget);
    if (this.#onCallEvent !== undefined) this.#trace(method, result, this.#onCallEvent);
    return { call, result };
  }

  #isConnected(): boolean {
    return this.#client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }

  #trace(method: string, result: Promise<unknown>, tell: (event: CallEvent) => void): void {
    const beganAt = performance.now();
    const msSince = (): number => Math.round((performance.now() - beganAt) * 10) / 10;
    if (!this.#isConnecting && !this.#isConnected()) {
      this.#isConnecting = true;
      tell({ kind: 'connecting' });
      this.#client.waitForReady(Infinity, (error) => {
        if (error !== undefined) return;
        this.#isConnecting = false;
        tell({ kind: 'connected', ms: msSince() });
      });
    }
    const call = (this.#count += 1);
    tell({ kind: 'called', call, method });
    result.then(
      () => tell({ kind: 'ended', call, method, ms: msSince() }),
      (reason: unknown) => {
        const error = reason instanceof WinsClientError ? reason.code : 'unknown';
        tell({ kind: 'ended', call, method, ms: msSince(), error });
      },
    );
  }

  #watchConnection(onTimeout: () => void): NodeJS.Timeout | undefined {
    if (this.#isConnected()) return undefined;
    return setTimeout(() => {
      if (!this.#isConnected()) onTimeout();
    }, this.#connectTimeoutMs);
  }

  #translate(error: ServiceError, method: string): WinsClientError {
    const { address } = this;
    const cause = this.#dialFailure;
    const translated = fromServiceError(error, { method, address });
    const found = cause instanceof Error ? cause.message : 'no reason was given';
    // Ignore a failure of `dial` that grpc-js does not quote: it is from an earlier attempt to connect.
    const dialled = cause !== undefined && error.details.includes(found);
    if (translated.code !== 'unavailable' || translated.isConnectionLost || !dialled) {
      return translated;
    }
    const details = `no connection: ${found}`;
    const grpcCode = error.code;
    return new WinsClientError('unavailable', { method, address, details, grpcCode, cause });
  }

  #cancelled(method: string, cause: unknown): WinsClientError {
    return this.#failure('aborted', method, 'the call was cancelled by its caller', cause);
  }

  #clientClosed(method: string): WinsClientError {
    return this.#failure('failedPrecondition', method, 'the client is closed');
  }

  #notAnswered(method: string, answerTimeoutMs: number): WinsClientError {
    this.#isSilent = true;
    return this.#failure('deadlineExceeded', method, `no answer within ${answerTimeoutMs} ms`);
  }

  #notConnected(method: string): WinsClientError {
    this.#isSilent = true;
    const details = `no HTTP/2 answer within ${this.#connectTimeoutMs} ms`;
    return this.#failure('unavailable', method, details);
  }

  #failure(code: WinsClientErrorCode, method: string, details: string, cause?: unknown) {
    return new WinsClientError(code, { method, address: this.address, details, cause });
  }
}

export function methodName({ path }: { readonly path: string }): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
