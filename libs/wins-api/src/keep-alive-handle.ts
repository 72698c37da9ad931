import type { ClientWritableStream } from '@grpc/grpc-js';
import type { ProcessKeepAliveRequest } from './gen/process.js';

/** How often the name is sent again, as the original's clients do. */
const BEAT_MS = 5 * 60 * 1000;

/** The hold on one process. The daemon stops the process when the hold ends, however that comes about. */
export interface KeepAliveHandle {
  /**
   * Settles once, when the hold has ended: resolves when the daemon answered, rejects with a `WinsClientError` when the call
   * failed. A rejection that no one looks at does no harm.
   */
  readonly closed: Promise<void>;
  /** Lets go: the daemon stops the process if it still runs. Gives `closed`. May be called again. */
  end(): Promise<void>;
}

/** Makes the handle of a KeepAlive call: sends `request` at once and then on each beat until the call ends. */
export function createKeepAliveHandle(
  request: ProcessKeepAliveRequest,
  call: ClientWritableStream<ProcessKeepAliveRequest> | undefined,
  result: Promise<unknown>,
): KeepAliveHandle {
  call?.write(request);
  const timer = setInterval(() => {
    // A daemon that does not read gets no second name to hold for it.
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
