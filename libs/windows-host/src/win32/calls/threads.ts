import { type Handle } from '../kernel32.js';
import { lazily, loadSystemLibrary } from './system-library.js';

/** Threads of the system's own, for calls that block long: Node has four threads for these, and files need them too. */
export const threads = lazily(() => {
  const { bind, koffi } = loadSystemLibrary('kernel32.dll');
  return {
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-createthread
    CreateThread: bind<
      (
        security: null,
        stackSize: 0,
        start: bigint,
        parameter: Buffer | bigint | null,
        flags: 0,
        id: [number],
      ) => Handle
    >(
      'intptr_t __stdcall CreateThread(void *security, size_t stackSize, void *start, void *parameter, uint32_t flags, _Out_ uint32_t *id)',
    ),
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getexitcodethread
    GetExitCodeThread: bind<(thread: Handle, exitCode: [number]) => number>(
      'int __stdcall GetExitCodeThread(intptr_t thread, _Out_ uint32_t *exitCode)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-registerwaitforsingleobject
    RegisterWaitForSingleObject: bind<
      (
        wait: [Handle],
        object: Handle,
        callback: bigint,
        context: null,
        milliseconds: number,
        flags: number,
      ) => number
    >(
      'int __stdcall RegisterWaitForSingleObject(_Out_ intptr_t *wait, intptr_t object, void *callback, void *context, uint32_t milliseconds, uint32_t flags)',
    ),
    // https://learn.microsoft.com/windows/win32/api/threadpoollegacyapiset/nf-threadpoollegacyapiset-unregisterwaitex
    UnregisterWaitEx: bind<(wait: Handle, completionEvent: Handle) => number>(
      'int __stdcall UnregisterWaitEx(intptr_t wait, intptr_t completionEvent)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winnt/nc-winnt-waitortimercallback
    waitCallback: lazily(() =>
      koffi.pointer(koffi.proto('__stdcall', null, 'void', ['void *', 'uint8_t'])),
    ),
    koffi,
  };
});

const modules = lazily(() => {
  const { bind } = loadSystemLibrary('kernel32.dll');
  return {
    // https://learn.microsoft.com/windows/win32/api/libloaderapi/nf-libloaderapi-getmodulehandlew
    GetModuleHandleW: bind<(module: string) => Handle>(
      'intptr_t __stdcall GetModuleHandleW(str16 module)',
    ),
    // https://learn.microsoft.com/windows/win32/api/libloaderapi/nf-libloaderapi-getprocaddress
    GetProcAddress: bind<(module: Handle, name: string) => bigint | null>(
      'void *__stdcall GetProcAddress(intptr_t module, str name)',
    ),
  };
});

/** Where a function of the system is, for calls that take functions; `undefined` where it does not exist. */
export function addressOfFunction(file: string, name: string): bigint | undefined {
  // Loads it from System32, where it stays.
  loadSystemLibrary(file);
  const { GetModuleHandleW, GetProcAddress } = modules();
  return GetProcAddress(GetModuleHandleW(file), name) ?? undefined;
}
