import { systemError } from '../windows-error.js';
import { lazily, loadSystemLibrary } from './calls/system-library.js';

/** A HANDLE as a number; koffi's `intptr_t`. */
export type Handle = number;

export const INVALID_HANDLE_VALUE: Handle = -1;

/** What every other binding needs of kernel32. */
export const kernel32 = lazily(() => {
  const { bind } = loadSystemLibrary('kernel32.dll');
  return {
    // https://learn.microsoft.com/windows/win32/api/errhandlingapi/nf-errhandlingapi-getlasterror
    GetLastError: bind<() => number>('uint32_t __stdcall GetLastError()'),
    // https://learn.microsoft.com/windows/win32/api/handleapi/nf-handleapi-closehandle
    CloseHandle: bind<(handle: Handle) => number>('int __stdcall CloseHandle(intptr_t handle)'),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-localfree
    LocalFree: bind<(memory: unknown) => unknown>('void *__stdcall LocalFree(void *memory)'),
  };
});

/**
 * Throws when a call said that it failed. It must directly follow the call, because any other call may change the last error.
 *
 * @throws WindowsError
 */
export function check(succeeded: boolean, functionName: string, tried: string): void {
  if (succeeded) return;
  throw systemError(tried, { functionName, errorNumber: kernel32().GetLastError() });
}
