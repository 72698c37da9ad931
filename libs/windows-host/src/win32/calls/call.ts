import { systemError } from '../../windows-error.js';
import { kernel32, INVALID_HANDLE_VALUE, type Handle } from '../kernel32.js';
import type { Callable } from './system-library.js';

/**
 * Calls a function that reports failure by 0, NULL or INVALID_HANDLE_VALUE.
 *
 * @param tried Begins the message of an error: what was tried and on what.
 * @throws WindowsError with the last error.
 */
export function call<Arguments extends unknown[], Returned>(
  tried: string,
  callee: Callable<Arguments, Returned>,
  ...args: Arguments
): NonNullable<Returned> {
  // Bound before the call, because any other call may change the last error.
  const { GetLastError } = kernel32;
  const result = callee(...args);
  if (result !== 0 && result !== -1 && result !== null && result !== undefined) return result;
  throw systemError(tried, { functionName: callee.name, errorNumber: GetLastError() });
}

/**
 * Checks the result of a function that returns its error code, as {@link call} does for others.
 *
 * @throws WindowsError unless it is 0, or one of `fine`.
 */
export function checkStatus(
  tried: string,
  functionName: string,
  errorNumber: number,
  ...fine: readonly number[]
): void {
  if (errorNumber === 0 || fine.includes(errorNumber)) return;
  throw systemError(tried, { functionName, errorNumber });
}

/**
 * Calls without waiting on the thread of JavaScript. The event loop is kept alive until the call returns.
 *
 * @returns What it returned, and the last error of the thread that it ran on.
 */
export function inBackground<Arguments extends unknown[]>(
  callee: Callable<Arguments, number>,
  ...args: Arguments
): Promise<{ readonly result: number; readonly errorNumber: number }> {
  const { GetLastError } = kernel32;
  return new Promise((resolve, reject) => {
    callee.async(...args, (error, result) => {
      // Within this callback, and nowhere else, the last error is the one of that thread.
      const errorNumber = GetLastError();
      // The call has written into the buffers among them; no earlier may they be collected.
      args.length = 0;
      if (error instanceof Error) reject(error);
      else resolve({ result, errorNumber });
    });
  });
}

/** The result of an act that does not wait, as a promise: what it throws is a rejection. */
export function inPromise<T>(act: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(act());
  });
}

/** A HANDLE that is closed once, by the owner of this object. */
export class OwnedHandle implements Disposable {
  readonly #free: (handle: Handle) => void;
  #value: Handle | undefined;

  /** Takes over a handle that a call returned and that is valid. */
  constructor(value: Handle, free = (handle: Handle) => void kernel32.CloseHandle(handle)) {
    if (value === 0 || value === INVALID_HANDLE_VALUE) throw new RangeError(`no handle: ${value}`);
    this.#value = value;
    this.#free = free;
  }

  /** @throws RangeError after `close` or `release`. */
  get value(): Handle {
    if (this.#value === undefined) throw new RangeError('the handle is closed');
    return this.#value;
  }

  /** Gives the handle up: the caller closes it. */
  release(): Handle {
    const { value } = this;
    this.#value = undefined;
    return value;
  }

  /** Idempotent. */
  close(): void {
    if (this.#value !== undefined) this.#free(this.release());
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
