import { systemLibrary } from './calls/system-library.js';

/**
 * Network adapters and the routing table. These functions return their error code and set no last error. Their pages:
 * https://learn.microsoft.com/windows/win32/api/iphlpapi and https://learn.microsoft.com/windows/win32/api/netioapi
 */
export const ipHelper = systemLibrary('iphlpapi.dll', 'Windows', [
  'uint32_t GetAdaptersAddresses(uint32_t family, uint32_t flags, void *reserved, void *adapters, _Inout_ uint32_t *size)',
  'uint32_t GetIpForwardTable2(uint16_t family, _Out_ void **table)',
  'void FreeMibTable(void *table)',
]);

// Each group is declared separately, because a system may lack any one of them.

/** IPv4 only. */
export const routeNotices = systemLibrary('iphlpapi.dll', 'support for route notices', [
  'uint32_t NotifyRouteChange(_Out_ intptr_t *handle, void *overlapped)',
  'int CancelIPChangeNotify(void *overlapped)',
]);

export const routeChanges = systemLibrary('iphlpapi.dll', 'support for route changes', [
  'void InitializeIpForwardEntry(void *row)',
  'uint32_t CreateIpForwardEntry2(void *row)',
  'uint32_t DeleteIpForwardEntry2(void *row)',
]);

export const interfaceChanges = systemLibrary('iphlpapi.dll', 'support for interface changes', [
  'void InitializeUnicastIpAddressEntry(void *row)',
  'uint32_t CreateUnicastIpAddressEntry(void *row)',
  'uint32_t DeleteUnicastIpAddressEntry(void *row)',
  'uint32_t GetIpInterfaceEntry(void *row)',
  'uint32_t SetIpInterfaceEntry(void *row)',
]);
