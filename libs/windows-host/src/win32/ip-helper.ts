import { lazily, loadSystemLibrary } from './calls/system-library.js';

/** The status that asks for a larger buffer. */
export const ERROR_BUFFER_OVERFLOW = 111;
/** No adapter has an address. */
export const ERROR_NO_DATA = 232;
export const ERROR_NOT_FOUND = 1168;
export const ERROR_OBJECT_ALREADY_EXISTS = 5010;

export const AF_UNSPEC = 0;

/** Neither anycast nor multicast addresses nor DNS servers. */
export const GAA_FLAG_SKIP_ANYCAST = 0x2;
export const GAA_FLAG_SKIP_MULTICAST = 0x4;
export const GAA_FLAG_SKIP_DNS_SERVER = 0x8;

/** What reads the adapters and the routing table. Its functions return their error code; the last error says nothing. */
export const ipHelper = lazily(() => {
  const { koffi, bind } = loadSystemLibrary('iphlpapi.dll');
  return {
    koffi,
    // https://learn.microsoft.com/windows/win32/api/iphlpapi/nf-iphlpapi-getadaptersaddresses
    GetAdaptersAddresses: bind<
      (family: number, flags: number, reserved: null, adapters: Buffer, size: [number]) => number
    >(
      'uint32_t __stdcall GetAdaptersAddresses(uint32_t family, uint32_t flags, void *reserved, void *adapters, _Inout_ uint32_t *size)',
    ),
    // https://learn.microsoft.com/windows/win32/api/netioapi/nf-netioapi-getipforwardtable2
    GetIpForwardTable2: bind<(family: number, table: [bigint | null]) => number>(
      'uint32_t __stdcall GetIpForwardTable2(uint16_t family, _Out_ void **table)',
    ),
    // https://learn.microsoft.com/windows/win32/api/netioapi/nf-netioapi-freemibtable
    FreeMibTable: bind<(table: bigint) => void>('void __stdcall FreeMibTable(void *table)'),
  };
});

/** What changes the routing table; apart from what reads it, because not every system that has the one has the other. */
export const routeChanges = lazily(() => {
  const { bind } = loadSystemLibrary('iphlpapi.dll', 'changing the routing table');
  return {
    // https://learn.microsoft.com/windows/win32/api/netioapi/nf-netioapi-initializeipforwardentry
    InitializeIpForwardEntry: bind<(row: Buffer) => void>(
      'void __stdcall InitializeIpForwardEntry(void *row)',
    ),
    // https://learn.microsoft.com/windows/win32/api/netioapi/nf-netioapi-createipforwardentry2
    CreateIpForwardEntry2: bind<(row: Buffer) => number>(
      'uint32_t __stdcall CreateIpForwardEntry2(void *row)',
    ),
    // https://learn.microsoft.com/windows/win32/api/netioapi/nf-netioapi-deleteipforwardentry2
    DeleteIpForwardEntry2: bind<(row: Buffer) => number>(
      'uint32_t __stdcall DeleteIpForwardEntry2(void *row)',
    ),
  };
});
