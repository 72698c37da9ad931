import { kernel32 } from '../kernel32.js';

/** A call on a thread of its own: what is behind it may take seconds, and this process has other work. */
export interface BackgroundCall<A extends unknown[]> {
  readonly async: (...args: [...A, (error: unknown, result: number) => void]) => void;
}

/** What a call returned, and the last error of the thread that it ran on. */
export interface BackgroundResult {
  readonly result: number;
  readonly errorNumber: number;
}

/** Calls without waiting on the thread of JavaScript. The event loop is kept alive until the call returns. */
export function inBackground<A extends unknown[]>(
  call: BackgroundCall<A>,
  ...args: A
): Promise<BackgroundResult> {
  return new Promise((resolve, reject) => {
    call.async(...args, (error, result) => {
      // Within this callback, and nowhere else, the last error is the one of that thread.
      const errorNumber = kernel32().GetLastError();
      // The call has written into the buffers among them; no earlier may they be collected.
      args.length = 0;
      if (error instanceof Error) reject(error);
      else resolve({ result, errorNumber });
    });
  });
}
