import { systemLibrary } from './calls/system-library.js';

/**
 * The network adapters and the routing table. These functions return their error code, and the last error says nothing. Their pages:
 * https://learn.microsoft.com/windows/win32/api/iphlpapi and https://learn.microsoft.com/windows/win32/api/netioapi
 */
export const ipHelper = systemLibrary('iphlpapi.dll', [
  'uint32_t GetAdaptersAddresses(uint32_t family, uint32_t flags, void *reserved, void *adapters, _Inout_ uint32_t *size)',
  'uint32_t GetIpForwardTable2(uint16_t family, _Out_ void **table)',
  'void FreeMibTable(void *table)',
]);

/** Tells when a route of IPv4 has changed. Not every system that has the others has these. */
export const routeNotices = systemLibrary(
  'iphlpapi.dll',
  [
    'uint32_t NotifyRouteChange(_Out_ intptr_t *handle, void *overlapped)',
    'int CancelIPChangeNotify(void *overlapped)',
  ],
  'telling about changes of routes',
);

/** Functions that change the routing table. Not every system that has the others has these. */
export const routeChanges = systemLibrary(
  'iphlpapi.dll',
  [
    'void InitializeIpForwardEntry(void *row)',
    'uint32_t CreateIpForwardEntry2(void *row)',
    'uint32_t DeleteIpForwardEntry2(void *row)',
  ],
  'changing the routing table',
);

/** Functions that change addresses of interfaces, and whether they forward. Not every system that has the others has these. */
export const interfaceChanges = systemLibrary(
  'iphlpapi.dll',
  [
    'void InitializeUnicastIpAddressEntry(void *row)',
    'uint32_t CreateUnicastIpAddressEntry(void *row)',
    'uint32_t DeleteUnicastIpAddressEntry(void *row)',
    'uint32_t GetIpInterfaceEntry(void *row)',
    'uint32_t SetIpInterfaceEntry(void *row)',
  ],
  'changing network interfaces',
);
