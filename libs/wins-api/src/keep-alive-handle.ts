import type { ClientWritableStream } from '@grpc/grpc-js';
import type { ProcessKeepAliveRequest } from './gen/process.js';

/** Interval at which the name is sent again, in milliseconds; the same as in Go clients. */
const BEAT_MS = 5 * 60 * 1000;

/** Hold on one process. The daemon stops the process when the hold ends, for any reason. */
export interface KeepAliveHandle {
  /** Resolves when the daemon answered, rejects with a `WinsClientError` when the call failed, never unhandled. */
  readonly closed: Promise<void>;
  /** Ends the hold: the daemon stops the process if it still runs. Returns `closed`. Idempotent. */
  end(): Promise<void>;
}

/** Creates the handle of a KeepAlive call: sends `request` at once and at each interval until the call ends. */
export function createKeepAliveHandle(
  request: ProcessKeepAliveRequest,
  call: ClientWritableStream<ProcessKeepAliveRequest> | undefined,
  result: Promise<unknown>,
): KeepAliveHandle {
  call?.write(request);
  const timer = setInterval(() => {
    // Skip while the daemon does not read, so that names do not queue up for it.
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
