import type { Handle } from './kernel32.js';
import { lazily, loadSystemLibrary } from './calls/system-library.js';

/** Writing to the event log. */
export const eventLogFunctions = lazily(() => {
  const { bind, koffi } = loadSystemLibrary('advapi32.dll');
  return {
    addressOf: (memory: Buffer) => koffi.address(memory),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-registereventsourcew
    RegisterEventSourceW: bind<(server: null, source: string) => Handle>(
      'intptr_t __stdcall RegisterEventSourceW(str16 server, str16 source)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-reporteventw
    ReportEventW: bind<
      (
        log: Handle,
        type: number,
        category: 0,
        id: number,
        user: null,
        stringCount: 1,
        dataSize: 0,
        strings: Buffer,
        data: null,
      ) => number
    >(
      'int __stdcall ReportEventW(intptr_t log, uint16_t type, uint16_t category, uint32_t id, void *user, uint16_t stringCount, uint32_t dataSize, void *strings, void *data)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-deregistereventsource
    DeregisterEventSource: bind<(log: Handle) => number>(
      'int __stdcall DeregisterEventSource(intptr_t log)',
    ),
  };
});
