import type { CallEvent } from './call-event.js';
import { WinsClientError } from './client-error.js';
import type { UnaryTransport } from './unary/unary-transport.js';

/** Takes the outcome of a call: an error, or the answer. */
export type CallDone<T> = (error: WinsClientError | null, answer?: T) => void;

export interface OpenCallsOptions {
  readonly connection: Pick<UnaryTransport, 'isConnected' | 'onConnected'>;
  readonly address: string;
  readonly connectTimeoutMs: number;
  readonly onCallEvent: ((event: CallEvent) => void) | undefined;
}

// Promise.withResolvers, which the oldest Node that is served does not have.
function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: WinsClientError) => void = () => undefined;
  const promise = new Promise<T>((resolveIt, rejectIt) => {
    resolve = resolveIt;
    reject = rejectIt;
  });
  return { promise, resolve, reject };
}

/** The calls of one client that have not ended. It ends them by signal, by want of a connection, and at `close`. */
export class OpenCalls {
  readonly #open = new Map<Promise<unknown>, () => void>();
  #closed = false;
  #silent = false;
  #calls = 0;
  #isConnecting = false;

  readonly #options: OpenCallsOptions;

  constructor(options: OpenCallsOptions) {
    this.#options = options;
  }

  /**
   * Starts a call and follows it to its end. When the client is closed, or the signal aborted already, it is not started:
   * `call` is undefined then. `result` rejects with a `WinsClientError`.
   *
   * @param answerTimeoutMs - How long the call may take. Default: as long as it takes.
   */
  begin<T, C extends { cancel(): void }>(
    method: string,
    signal: AbortSignal | undefined,
    start: (done: CallDone<T>) => C,
    answerTimeoutMs?: number,
  ): { readonly call: C | undefined; readonly result: Promise<T> } {
    if (this.#closed)
      return { call: undefined, result: Promise.reject(this.#clientClosed(method)) };
    if (signal?.aborted === true) {
      return { call: undefined, result: Promise.reject(this.#cancelled(method, signal.reason)) };
    }
    const { promise: result, resolve, reject } = withResolvers<T>();
    const call = start((error, answer) => {
      if (error === null) resolve(answer as T);
      else reject(error);
    });
    // The first cause wins: what is said of a call that is cancelled here comes second.
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
    if (this.#options.onCallEvent !== undefined)
      this.#trace(method, result, this.#options.onCallEvent);
    return { call, result };
  }

  /** Whether the daemon let a call's time pass without a word: it will not end a connection in good order either. */
  get foundSilence(): boolean {
    return this.#silent;
  }

  /** Cancels all calls and refuses new ones. */
  async close(): Promise<void> {
    this.#closed = true;
    const results = [...this.#open.keys()];
    for (const cancel of [...this.#open.values()]) cancel();
    await Promise.allSettled(results);
  }

  #trace<T>(method: string, result: Promise<T>, tell: (event: CallEvent) => void): void {
    const { connection } = this.#options;
    const beganAt = performance.now();
    const msSince = (): number => Math.round((performance.now() - beganAt) * 10) / 10;
    if (!this.#isConnecting && !connection.isConnected()) {
      this.#isConnecting = true;
      tell({ kind: 'connecting' });
      connection.onConnected(() => {
        this.#isConnecting = false;
        tell({ kind: 'connected', ms: msSince() });
      });
    }
    const call = (this.#calls += 1);
    tell({ kind: 'called', call, method });
    result.then(
      () => tell({ kind: 'ended', call, method, ms: msSince() }),
      (reason: unknown) => {
        const error = reason instanceof WinsClientError ? reason.code : 'unknown';
        tell({ kind: 'ended', call, method, ms: msSince(), error });
      },
    );
  }

  /** A call that finds a connection needs no watch; one that has to wait for it shall not wait forever. */
  #watchConnection(onTimeout: () => void): NodeJS.Timeout | undefined {
    const { connection, connectTimeoutMs } = this.#options;
    if (connection.isConnected()) return undefined;
    return setTimeout(() => {
      if (!connection.isConnected()) onTimeout();
    }, connectTimeoutMs);
  }

  #cancelled(method: string, cause: unknown): WinsClientError {
    const { address } = this.#options;
    return new WinsClientError('cancelled', {
      method,
      address,
      details: 'the call was cancelled by its caller',
      cause,
    });
  }

  #clientClosed(method: string): WinsClientError {
    const { address } = this.#options;
    const details = 'found the client closed; wanted an open one';
    return new WinsClientError('failedPrecondition', { method, address, details });
  }

  #notAnswered(method: string, answerTimeoutMs: number): WinsClientError {
    this.#silent = true;
    const { address } = this.#options;
    const details = `found no answer within ${answerTimeoutMs} ms; wanted one`;
    return new WinsClientError('deadlineExceeded', { method, address, details });
  }

  #notConnected(method: string): WinsClientError {
    this.#silent = true;
    const { address, connectTimeoutMs } = this.#options;
    const details = `found no answer within ${connectTimeoutMs} ms; wanted an HTTP/2 server`;
    return new WinsClientError('unavailable', { method, address, details });
  }
}
