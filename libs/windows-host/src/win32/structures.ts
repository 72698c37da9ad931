/**
 * The structures that this library reads and writes, with the names of their pages; `spare` is what is never looked at. Their sizes are
 * asserted by a spec.
 */
import { structure } from './calls/system-library.js';

/** https://learn.microsoft.com/windows/win32/api/wtypesbase/ns-wtypesbase-security_attributes */
export const SECURITY_ATTRIBUTES = structure(
  'uint32_t nLength; void *lpSecurityDescriptor; int32_t bInheritHandle',
);

/** https://learn.microsoft.com/windows/win32/api/fileapi/ns-fileapi-by_handle_file_information */
export const BY_HANDLE_FILE_INFORMATION = structure(
  'uint32_t dwFileAttributes; uint32_t spare[12]',
);

/** https://learn.microsoft.com/windows/win32/api/minwinbase/ns-minwinbase-overlapped */
export const OVERLAPPED = structure(
  'uint64_t Internal; uint64_t InternalHigh; uint64_t Offset; intptr_t hEvent',
);

/** https://learn.microsoft.com/windows/win32/api/winnt/ns-winnt-token_groups: a count, and these. */
export const SID_AND_ATTRIBUTES = structure('void *Sid; uint32_t Attributes');

/** https://learn.microsoft.com/windows/win32/api/tlhelp32/ns-tlhelp32-processentry32w */
export const PROCESSENTRY32W = structure(
  'uint32_t dwSize; uint32_t cntUsage; uint32_t th32ProcessID; uint64_t th32DefaultHeapID; uint32_t th32ModuleID; uint32_t cntThreads; uint32_t th32ParentProcessID; int32_t pcPriClassBase; uint32_t dwFlags; char16_t szExeFile[260]',
);

/** https://learn.microsoft.com/windows/win32/api/winbase/ns-winbase-startupinfoexw */
export const STARTUPINFOEXW = structure(
  'uint32_t cb; void *lpReserved; void *lpDesktop; void *lpTitle; uint32_t placeAndSize[7]; uint32_t dwFlags; uint16_t wShowWindow; uint16_t cbReserved2; void *lpReserved2; intptr_t hStdInput; intptr_t hStdOutput; intptr_t hStdError; void *lpAttributeList',
);

/** https://learn.microsoft.com/windows/win32/api/processthreadsapi/ns-processthreadsapi-process_information */
export const PROCESS_INFORMATION = structure(
  'intptr_t hProcess; intptr_t hThread; uint32_t dwProcessId; uint32_t dwThreadId',
);

/** https://learn.microsoft.com/windows/win32/api/winnt/ns-winnt-jobobject_basic_accounting_information */
export const JOBOBJECT_BASIC_ACCOUNTING_INFORMATION = structure(
  'int64_t TotalUserTime; int64_t TotalKernelTime; int64_t ThisPeriodTotalUserTime; int64_t ThisPeriodTotalKernelTime; uint32_t TotalPageFaultCount; uint32_t TotalProcesses; uint32_t ActiveProcesses; uint32_t TotalTerminatedProcesses',
);

/** https://learn.microsoft.com/windows/win32/api/winnt/ns-winnt-jobobject_extended_limit_information */
export const JOBOBJECT_EXTENDED_LIMIT_INFORMATION = structure(
  'int64_t PerProcessUserTimeLimit; int64_t PerJobUserTimeLimit; uint32_t LimitFlags; uint64_t spare[15]',
);

/** https://learn.microsoft.com/windows/win32/api/psapi/ns-psapi-process_memory_counters */
export const PROCESS_MEMORY_COUNTERS = structure(
  'uint32_t cb; uint32_t PageFaultCount; uint64_t PeakWorkingSetSize; uint64_t WorkingSetSize; uint64_t spare[6]',
);

/** https://learn.microsoft.com/windows/win32/api/winsvc/ns-winsvc-service_status */
export const SERVICE_STATUS = structure(
  'uint32_t dwServiceType; uint32_t dwCurrentState; uint32_t dwControlsAccepted; uint32_t dwWin32ExitCode; uint32_t dwServiceSpecificExitCode; uint32_t dwCheckPoint; uint32_t dwWaitHint',
);

/** https://learn.microsoft.com/windows/win32/api/winsvc/ns-winsvc-service_status_process */
export const SERVICE_STATUS_PROCESS = structure(
  'uint32_t dwServiceType; uint32_t dwCurrentState; uint32_t dwControlsAccepted; uint32_t dwWin32ExitCode; uint32_t dwServiceSpecificExitCode; uint32_t dwCheckPoint; uint32_t dwWaitHint; uint32_t dwProcessId; uint32_t dwServiceFlags',
);

/** https://learn.microsoft.com/windows/win32/api/winsvc/ns-winsvc-query_service_configw */
export const QUERY_SERVICE_CONFIGW = structure(
  'uint32_t dwServiceType; uint32_t dwStartType; uint32_t dwErrorControl; void *lpBinaryPathName; void *lpLoadOrderGroup; uint32_t dwTagId; void *lpDependencies; void *lpServiceStartName; void *lpDisplayName',
);

/** https://learn.microsoft.com/windows/win32/api/winsvc/ns-winsvc-service_failure_actionsw */
export const SERVICE_FAILURE_ACTIONSW = structure(
  'uint32_t dwResetPeriod; void *lpRebootMsg; void *lpCommand; uint32_t cActions; void *lpsaActions',
);

/** https://learn.microsoft.com/windows/win32/api/winsvc/ns-winsvc-sc_action */
export const SC_ACTION = structure('int32_t Type; uint32_t Delay');

/** A structure of one text, such as https://learn.microsoft.com/windows/win32/api/winsvc/ns-winsvc-service_descriptionw */
export const ONE_TEXT = structure('void *text');

/** https://learn.microsoft.com/windows/win32/api/winsvc/ns-winsvc-service_table_entryw */
export const SERVICE_TABLE_ENTRYW = structure('void *lpServiceName; void *lpServiceProc');

/** https://learn.microsoft.com/windows/win32/api/wincrypt/ns-wincrypt-cert_context */
export const CERT_CONTEXT = structure(
  'uint32_t dwCertEncodingType; void *pbCertEncoded; uint32_t cbCertEncoded; void *pCertInfo; void *hCertStore',
);

/** https://learn.microsoft.com/windows/win32/api/winhttp/ns-winhttp-winhttp_proxy_info */
export const WINHTTP_PROXY_INFO = structure(
  'uint32_t dwAccessType; void *lpszProxy; void *lpszProxyBypass',
);

/** https://learn.microsoft.com/windows/win32/api/netioapi/ns-netioapi-mib_ipforward_row2 */
export const MIB_IPFORWARD_ROW2 = structure(
  'uint64_t InterfaceLuid; uint32_t InterfaceIndex; uint8_t destination[28]; uint8_t prefixLength; uint8_t spare[3]; uint8_t nextHop[28]; uint8_t sitePrefixLength[4]; uint32_t ValidLifetime; uint32_t PreferredLifetime; uint32_t Metric; uint32_t Protocol; uint8_t flags[4]; uint32_t Age; uint32_t Origin',
);

/** https://learn.microsoft.com/windows/win32/api/iptypes/ns-iptypes-ip_adapter_addresses_lh */
export const IP_ADAPTER_ADDRESSES = structure(
  'uint32_t Length; uint32_t IfIndex; void *Next; void *AdapterName; void *FirstUnicastAddress; void *FirstAnycastAddress; void *FirstMulticastAddress; void *FirstDnsServerAddress; void *DnsSuffix; void *Description; void *FriendlyName; uint8_t PhysicalAddress[8]; uint32_t PhysicalAddressLength; uint32_t Flags; uint32_t Mtu; uint32_t IfType; uint32_t OperStatus; uint32_t Ipv6IfIndex; uint32_t ZoneIndices[16]; void *FirstPrefix; uint64_t TransmitLinkSpeed; uint64_t ReceiveLinkSpeed; void *FirstWinsServerAddress; void *FirstGatewayAddress; uint32_t Ipv4Metric; uint32_t Ipv6Metric',
);

/** https://learn.microsoft.com/windows/win32/api/iptypes/ns-iptypes-ip_adapter_unicast_address_lh */
export const IP_ADAPTER_UNICAST_ADDRESS = structure(
  'uint32_t Length; uint32_t Flags; void *Next; void *lpSockaddr; int32_t iSockaddrLength; int32_t spare; int32_t PrefixOrigin; int32_t SuffixOrigin; int32_t DadState; uint32_t ValidLifetime; uint32_t PreferredLifetime; uint32_t LeaseLifetime; uint8_t OnLinkPrefixLength',
);
