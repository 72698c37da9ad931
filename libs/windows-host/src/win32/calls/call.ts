import { systemError } from '../../windows-error.js';
import * as win32 from '../kernel32.js';
import type { Handle } from '../kernel32.js';
import type { Callable } from './system-library.js';

/** Calls a function that reports failure by 0, NULL or INVALID_HANDLE_VALUE. @throws WindowsError with the last error. */
export function call<Arguments extends unknown[], Returned>(
  tried: string,
  callee: Callable<Arguments, Returned>,
  ...args: Arguments
): NonNullable<Returned> {
  // Looked up before the call, because the look-up may change the last error.
  const { GetLastError } = win32.kernel32;
  const result = callee(...args);
  if (result !== 0 && result !== -1 && result !== null && result !== undefined) return result;
  throw systemError(tried, { functionName: callee.name, errorNumber: GetLastError() });
}

/** @throws WindowsError unless the error code is 0 or one of `fine`. */
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
 * Calls a function on another thread; keeps the event loop alive until it returns. `errorNumber` is the last error of
 * that thread.
 */
export function inBackground<Arguments extends unknown[]>(
  callee: Callable<Arguments, number>,
  ...args: Arguments
): Promise<{ readonly result: number; readonly errorNumber: number }> {
  const { GetLastError } = win32.kernel32;
  return new Promise((resolve, reject) => {
    callee.async(...args, (error, result) => {
      // Only within this callback, GetLastError returns the last error of the thread that ran `callee`.
      const errorNumber = GetLastError();
      // Keeps the arguments alive until here, because the call writes into the buffers among them.
      args.length = 0;
      if (error instanceof Error) reject(error);
      else resolve({ result, errorNumber });
    });
  });
}

/** Turns an exception into a rejection. */
export function inPromise<T>(action: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(action());
  });
}

/** A HANDLE that its owner closes once. */
export class OwnedHandle implements Disposable {
  readonly #free: (handle: Handle) => void;
  #value: Handle | undefined;

  constructor(value: Handle, free = (handle: Handle) => void win32.kernel32.CloseHandle(handle)) {
    if (value === 0 || value === win32.INVALID_HANDLE_VALUE)
      throw new RangeError(`no handle: ${value}`);
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

/** Arguments of CreateFileW. */
interface FileOpening {
  readonly access: number;
  /** Default: everything is shared. */
  readonly share?: number;
  /** SECURITY_ATTRIBUTES. Default: the handle is not inherited, and a new file inherits the access list of its folder. */
  readonly security?: Buffer;
  /** Default: the file must exist. */
  readonly disposition?: number;
  readonly flags?: number;
}

/** Opens a file, a folder, or the client end of a pipe; the caller closes it. @throws WindowsError */
export function openFile(tried: string, path: string, opening: FileOpening): OwnedHandle {
  const { access, share = win32.FILE_SHARE_ALL, flags = 0, security = null } = opening;
  const { disposition = win32.OPEN_EXISTING } = opening;
  const { CreateFileW } = win32.kernel32;
  const handle = call(tried, CreateFileW, path, access, share, security, disposition, flags, 0);
  return new OwnedHandle(handle);
}
