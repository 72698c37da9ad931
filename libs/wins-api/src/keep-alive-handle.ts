import type { ClientWritableStream } from '@grpc/grpc-js';
import type { WinsClientError } from './client-error.js';
import type { ProcessKeepAliveRequest } from './gen/process.js';

/** Interval between requests. Go clients use the same. */
const BEAT_MS = 5 * 60 * 1000;

/** Lease of one process. The daemon stops the process when the lease ends, for any reason. */
export interface KeepAliveHandle extends AsyncDisposable {
  /**
   * Resolves when the daemon has answered the call that holds the lease. The answer closes the call. Rejects with a
   * `WinsClientError` if the call fails. Callers may ignore the rejection.
   */
  readonly closed: Promise<void>;
  /**
   * Ends the lease. Never rejects: a program that has ended keeps its exit, even if the daemon then fails to clean up after it. Resolves with
   * that failure, or with the earlier one of `closed`; undefined if there was none. Idempotent.
   */
  end(): Promise<WinsClientError | undefined>;
}

/** Sends `request` at once, and again every five minutes until the call ends. */
export function createKeepAliveHandle(
  request: ProcessKeepAliveRequest,
  call: ClientWritableStream<ProcessKeepAliveRequest> | undefined,
  result: Promise<unknown>,
): KeepAliveHandle {
  call?.write(request);
  const timer = setInterval(() => {
    // Requests must not queue up while the daemon does not read.
    if (call?.writableNeedDrain === false) call.write(request);
  }, BEAT_MS);
  const closed = (async () => {
    try {
      await result;
    } finally {
      clearInterval(timer);
    }
  })();
  const failure = closed.then(
    () => undefined,
    (error: unknown) => error as WinsClientError,
  );
  const end = (): Promise<WinsClientError | undefined> => {
    clearInterval(timer);
    call?.end();
    return failure;
  };
  return {
    closed,
    end,
    [Symbol.asyncDispose]: async () => {
      await end();
    },
  };
}
