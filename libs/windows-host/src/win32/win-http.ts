import { lazily, loadSystemLibrary } from './calls/system-library.js';

/** The size of WINHTTP_PROXY_INFO: a kind, and two pointers to text. */
export const PROXY_INFO_SIZE = 24;

/** The proxy that programs with WinHTTP use when they name none. */
export const winHttp = lazily(() => {
  const { bind, koffi } = loadSystemLibrary('winhttp.dll');
  const kernel = loadSystemLibrary('kernel32.dll');
  return {
    addressOf: (memory: Buffer) => koffi.address(memory),
    textAt: (address: bigint) => koffi.decode(address, 'char16_t', -1) as string,
    // https://learn.microsoft.com/windows/win32/api/winhttp/nf-winhttp-winhttpgetdefaultproxyconfiguration
    WinHttpGetDefaultProxyConfiguration: bind<(info: Buffer) => number>(
      'int __stdcall WinHttpGetDefaultProxyConfiguration(_Out_ void *info)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winhttp/nf-winhttp-winhttpsetdefaultproxyconfiguration
    WinHttpSetDefaultProxyConfiguration: bind<(info: Buffer) => number>(
      'int __stdcall WinHttpSetDefaultProxyConfiguration(void *info)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-globalfree
    GlobalFree: kernel.bind<(memory: bigint) => unknown>(
      'void *__stdcall GlobalFree(void *memory)',
    ),
  };
});
