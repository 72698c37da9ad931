import { INVALID_HANDLE_VALUE, type Handle } from '../kernel32.js';
import { lazily, loadSystemLibrary } from './system-library.js';

export const INFINITE = 0xffff_ffff;
export const WT_EXECUTEONLYONCE = 0x8;
/** The callback may take its time: here it waits for the thread of JavaScript. */
export const WT_EXECUTELONGFUNCTION = 0x10;
/** For UnregisterWaitEx: return when no callback runs any more. */
export const WAIT_FOR_CALLBACKS: Handle = INVALID_HANDLE_VALUE;

/** The address of a function that other threads may call; it runs on the thread of JavaScript while they wait. */
export type Callback = bigint;

/** Events, and waiting for them without a thread. */
export const waits = lazily(() => {
  const { bind, koffi } = loadSystemLibrary('kernel32.dll');
  // https://learn.microsoft.com/windows/win32/api/winnt/nc-winnt-waitortimercallback
  const waitCallback = koffi.pointer(koffi.proto('void', ['uint64_t', 'uint8_t']));
  return {
    registerCallback: (callback: (context: number) => void): Callback =>
      koffi.register(callback, waitCallback),
    unregisterCallback: (callback: Callback): void => koffi.unregister(callback),
    // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createeventw
    CreateEventW: bind<
      (
        security: Buffer | null,
        isManual: number,
        isSignalled: number,
        name: string | null,
      ) => Handle
    >('intptr_t __stdcall CreateEventW(void *security, int manual, int signalled, str16 name)'),
    // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-openeventw
    OpenEventW: bind<(access: number, isInherited: number, name: string) => Handle>(
      'intptr_t __stdcall OpenEventW(uint32_t access, int inherited, str16 name)',
    ),
    // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setevent
    SetEvent: bind<(event: Handle) => number>('int __stdcall SetEvent(intptr_t event)'),
    // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-resetevent
    ResetEvent: bind<(event: Handle) => number>('int __stdcall ResetEvent(intptr_t event)'),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-registerwaitforsingleobject
    RegisterWaitForSingleObject: bind<
      (
        outWait: [Handle],
        handle: Handle,
        callback: Callback,
        context: number,
        timeoutMs: number,
        flags: number,
      ) => number
    >(
      'int __stdcall RegisterWaitForSingleObject(_Out_ intptr_t *wait, intptr_t handle, void *callback, uint64_t context, uint32_t timeout, uint32_t flags)',
    ),
    // https://learn.microsoft.com/windows/win32/api/threadpoollegacyapiset/nf-threadpoollegacyapiset-unregisterwaitex
    UnregisterWaitEx: bind<(wait: Handle, completion: Handle) => number>(
      'int __stdcall UnregisterWaitEx(intptr_t wait, intptr_t completion)',
    ),
  };
});
