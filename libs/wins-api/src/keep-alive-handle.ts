import type { ClientWritableStream } from '@grpc/grpc-js';
import type { ProcessKeepAliveRequest } from './gen/process.js';

/** The interval of Go clients, in milliseconds. */
const BEAT_MS = 5 * 60 * 1000;

/** Hold on one process. The daemon stops the process when the hold ends, for any reason. */
export interface KeepAliveHandle {
  /** Resolves when the daemon answers. Rejects with a `WinsClientError` if the call fails. Callers may ignore the rejection. */
  readonly closed: Promise<void>;
  /** Ends the hold and returns `closed`. Idempotent. */
  end(): Promise<void>;
}

/** Sends `request` at once and at each interval until the call ends. */
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
  closed.catch(() => undefined);
  return {
    closed,
    end: () => {
      clearInterval(timer);
      call?.end();
      return closed;
    },
  };
}
