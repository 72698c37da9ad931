import { systemLibrary } from './calls/system-library.js';

export const SE_FILE_OBJECT = 1;
export const SE_KERNEL_OBJECT = 6;
export const OWNER_SECURITY_INFORMATION = 1;
export const GROUP_SECURITY_INFORMATION = 2;
export const DACL_SECURITY_INFORMATION = 4;
/** With this flag, a new access list inherits nothing from the folder above. */
export const PROTECTED_DACL_SECURITY_INFORMATION = 0x8000_0000;
/** With this flag, a new access list inherits from the folder above. */
export const UNPROTECTED_DACL_SECURITY_INFORMATION = 0x2000_0000;

/** Memory that a call allocated; LocalFree frees it. */
export type LocalMemory = bigint;

/** Grouped by header. Documentation: `https://learn.microsoft.com/windows/win32/api/HEADER/nf-HEADER-NAME`, in lower case. */
export const advapi32 = systemLibrary('advapi32.dll', 'Windows', [
  // sddl
  'int ConvertStringSecurityDescriptorToSecurityDescriptorW(str16 text, uint32_t revision, _Out_ void **descriptor, _Out_ uint32_t *size)',
  'int ConvertSecurityDescriptorToStringSecurityDescriptorW(void *descriptor, uint32_t revision, uint32_t information, _Out_ void **text, _Out_ uint32_t *length)',
  'int ConvertSidToStringSidW(void *sid, _Out_ void **text)',
  // securitybaseapi, processthreadsapi
  'int SetFileSecurityW(str16 file, uint32_t information, void *descriptor)',
  'int GetTokenInformation(intptr_t token, int kind, void *out, uint32_t size, _Out_ uint32_t *used)',
  'int OpenProcessToken(intptr_t process, uint32_t access, _Out_ intptr_t *token)',
  // aclapi; GetSecurityInfo returns its error code
  'uint32_t GetSecurityInfo(intptr_t handle, int type, uint32_t information, void *owner, void *group, void *dacl, void *sacl, _Out_ void **descriptor)',
  // winbase
  'intptr_t RegisterEventSourceW(str16 server, str16 source)',
  'int ReportEventW(intptr_t log, uint16_t type, uint16_t category, uint32_t id, void *user, uint16_t stringCount, uint32_t dataSize, void *strings, void *data)',
  'int DeregisterEventSource(intptr_t log)',
  // winreg; these return their error code instead of setting the last error
  'int32_t RegOpenKeyExW(intptr_t key, str16 path, uint32_t options, uint32_t access, _Out_ intptr_t *opened)',
  'int32_t RegCreateKeyExW(intptr_t key, str16 path, uint32_t reserved, void *className, uint32_t options, uint32_t access, void *security, _Out_ intptr_t *opened, void *disposition)',
  'int32_t RegQueryValueExW(intptr_t key, str16 name, void *reserved, _Out_ uint32_t *type, void *data, _Inout_ uint32_t *size)',
  'int32_t RegEnumValueW(intptr_t key, uint32_t index, void *name, _Inout_ uint32_t *nameLength, void *reserved, _Out_ uint32_t *type, void *data, _Inout_ uint32_t *size)',
  'int32_t RegSetValueExW(intptr_t key, str16 name, uint32_t reserved, uint32_t type, void *data, uint32_t size)',
  'int32_t RegDeleteValueW(intptr_t key, str16 name)',
  'int32_t RegDeleteTreeW(intptr_t key, str16 path)',
  'int32_t RegFlushKey(intptr_t key)',
  'int32_t RegCloseKey(intptr_t key)',
  // winsvc
  'intptr_t OpenSCManagerW(str16 machine, str16 database, uint32_t access)',
  'intptr_t OpenServiceW(intptr_t manager, str16 name, uint32_t access)',
  'int CloseServiceHandle(intptr_t handle)',
  'intptr_t CreateServiceW(intptr_t manager, str16 name, str16 displayName, uint32_t access, uint32_t type, uint32_t start, uint32_t errorControl, str16 commandLine, str16 group, void *tag, void *dependencies, str16 account, str16 password)',
  'int ChangeServiceConfigW(intptr_t service, uint32_t type, uint32_t start, uint32_t errorControl, str16 commandLine, str16 group, void *tag, void *dependencies, str16 account, str16 password, str16 displayName)',
  'int ChangeServiceConfig2W(intptr_t service, uint32_t level, void *info)',
  'int QueryServiceConfigW(intptr_t service, void *config, uint32_t size, _Out_ uint32_t *needed)',
  'int QueryServiceConfig2W(intptr_t service, uint32_t level, void *info, uint32_t size, _Out_ uint32_t *needed)',
  'int QueryServiceStatusEx(intptr_t service, int level, void *status, uint32_t size, _Out_ uint32_t *needed)',
  'int StartServiceW(intptr_t service, uint32_t count, void *words)',
  'int ControlService(intptr_t service, uint32_t control, void *status)',
  'int DeleteService(intptr_t service)',
  'intptr_t RegisterServiceCtrlHandlerExW(str16 name, void *handler, void *context)',
  'int SetServiceStatus(intptr_t service, void *status)',
]);
