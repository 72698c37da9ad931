import { systemLibrary } from './calls/system-library.js';

/** These functions return their error code. https://learn.microsoft.com/windows/win32/api/fwpmu */
export const filteringPlatform = systemLibrary('fwpuclnt.dll', 'the Windows Filtering Platform', [
  'uint32_t FwpmEngineOpen0(str16 server, uint32_t authentication, void *identity, void *session, _Out_ intptr_t *engine)',
  'uint32_t FwpmEngineClose0(intptr_t engine)',
  'uint32_t FwpmTransactionBegin0(intptr_t engine, uint32_t flags)',
  'uint32_t FwpmTransactionCommit0(intptr_t engine)',
  'uint32_t FwpmTransactionAbort0(intptr_t engine)',
  'uint32_t FwpmSubLayerAdd0(intptr_t engine, void *subLayer, void *security)',
  'uint32_t FwpmSubLayerDeleteByKey0(intptr_t engine, void *key)',
  'uint32_t FwpmFilterAdd0(intptr_t engine, void *filter, void *security, void *id)',
  'uint32_t FwpmFilterDeleteByKey0(intptr_t engine, void *key)',
  'uint32_t FwpmFilterCreateEnumHandle0(intptr_t engine, void *template, _Out_ intptr_t *enumeration)',
  'uint32_t FwpmFilterEnum0(intptr_t engine, intptr_t enumeration, uint32_t wanted, _Out_ void **entries, _Out_ uint32_t *count)',
  'uint32_t FwpmFilterDestroyEnumHandle0(intptr_t engine, intptr_t enumeration)',
  'void FwpmFreeMemory0(void *pointer)',
]);
