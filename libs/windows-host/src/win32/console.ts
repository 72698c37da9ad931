import { WindowsError } from '../windows-error.js';
import type { BackgroundCall } from './calls/background-call.js';
import { lazily, loadSystemLibrary } from './calls/system-library.js';
import { addressOfFunction } from './calls/threads.js';

/** Notifications about the console, and about the session or container that it belongs to. */
export const consoleFunctions = lazily(() => {
  const { bind, koffi } = loadSystemLibrary('kernel32.dll');
  return {
    koffi,
    // https://learn.microsoft.com/windows/console/setconsolectrlhandler
    SetConsoleCtrlHandler: bind<
      ((handler: bigint, add: 0 | 1) => number) & BackgroundCall<[handler: bigint, add: 0 | 1]>
    >('int __stdcall SetConsoleCtrlHandler(void *handler, int add)'),
    // https://learn.microsoft.com/windows/console/handlerroutine
    handlerRoutine: lazily(() =>
      koffi.pointer(koffi.proto('__stdcall', null, 'int', ['uint32_t'])),
    ),
  };
});

/**
 * Where `WaitMessage` is, which never returns in a thread without windows, because no messages are posted to it.
 * https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-waitmessage
 */
export const waitMessage = lazily((): bigint => {
  const address = addressOfFunction('user32.dll', 'WaitMessage');
  if (address !== undefined) return address;
  throw new WindowsError('unavailable', 'looked for WaitMessage in user32.dll: it is not there');
});
