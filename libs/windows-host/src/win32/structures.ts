/**
 * Structures under their documented names. A spec asserts their sizes. A field `spare` stands for members that no code reads.
 * Each structure has the page
 * `https://learn.microsoft.com/windows/win32/api/HEADER/ns-HEADER-NAME`, in lower case. The comments below name HEADER.
 */
import { structure } from './calls/system-library.js';

// wtypesbase
export const SECURITY_ATTRIBUTES = structure(
  'uint32_t nLength; void *lpSecurityDescriptor; int32_t bInheritHandle',
);
// fileapi
export const BY_HANDLE_FILE_INFORMATION = structure(
  'uint32_t dwFileAttributes; uint32_t spare[12]',
);
// minwinbase
export const OVERLAPPED = structure(
  'uint64_t Internal; uint64_t InternalHigh; uint64_t Offset; intptr_t hEvent',
);
// winnt
/** TOKEN_GROUPS is a count followed by these. */
export const SID_AND_ATTRIBUTES = structure('void *Sid; uint32_t Attributes');
// tlhelp32
export const PROCESSENTRY32W = structure(
  'uint32_t dwSize; uint32_t cntUsage; uint32_t th32ProcessID; uint64_t th32DefaultHeapID; uint32_t th32ModuleID; uint32_t cntThreads; uint32_t th32ParentProcessID; int32_t pcPriClassBase; uint32_t dwFlags; char16_t szExeFile[260]',
);
// winbase
export const STARTUPINFOEXW = structure(
  'uint32_t cb; void *lpReserved; void *lpDesktop; void *lpTitle; uint32_t placeAndSize[7]; uint32_t dwFlags; uint16_t wShowWindow; uint16_t cbReserved2; void *lpReserved2; intptr_t hStdInput; intptr_t hStdOutput; intptr_t hStdError; void *lpAttributeList',
);
// processthreadsapi
export const PROCESS_INFORMATION = structure(
  'intptr_t hProcess; intptr_t hThread; uint32_t dwProcessId; uint32_t dwThreadId',
);
// winnt
export const JOBOBJECT_BASIC_ACCOUNTING_INFORMATION = structure(
  'int64_t TotalUserTime; int64_t TotalKernelTime; int64_t ThisPeriodTotalUserTime; int64_t ThisPeriodTotalKernelTime; uint32_t TotalPageFaultCount; uint32_t TotalProcesses; uint32_t ActiveProcesses; uint32_t TotalTerminatedProcesses',
);
export const JOBOBJECT_EXTENDED_LIMIT_INFORMATION = structure(
  'int64_t PerProcessUserTimeLimit; int64_t PerJobUserTimeLimit; uint32_t LimitFlags; uint64_t MinimumWorkingSetSize; uint64_t MaximumWorkingSetSize; uint32_t ActiveProcessLimit; uint64_t Affinity; uint32_t PriorityClass; uint32_t SchedulingClass; uint64_t spare[7]; uint64_t JobMemoryLimit; uint64_t PeakProcessMemoryUsed; uint64_t PeakJobMemoryUsed',
);
export const JOBOBJECT_CPU_RATE_CONTROL_INFORMATION = structure(
  'uint32_t ControlFlags; uint32_t CpuRate',
);
// psapi
export const PROCESS_MEMORY_COUNTERS = structure(
  'uint32_t cb; uint32_t PageFaultCount; uint64_t PeakWorkingSetSize; uint64_t WorkingSetSize; uint64_t spare[6]',
);
// winsvc
export const SERVICE_STATUS = structure(
  'uint32_t dwServiceType; uint32_t dwCurrentState; uint32_t dwControlsAccepted; uint32_t dwWin32ExitCode; uint32_t dwServiceSpecificExitCode; uint32_t dwCheckPoint; uint32_t dwWaitHint',
);
export const SERVICE_STATUS_PROCESS = structure(
  'uint32_t dwServiceType; uint32_t dwCurrentState; uint32_t dwControlsAccepted; uint32_t dwWin32ExitCode; uint32_t dwServiceSpecificExitCode; uint32_t dwCheckPoint; uint32_t dwWaitHint; uint32_t dwProcessId; uint32_t dwServiceFlags',
);
export const QUERY_SERVICE_CONFIGW = structure(
  'uint32_t dwServiceType; uint32_t dwStartType; uint32_t dwErrorControl; void *lpBinaryPathName; void *lpLoadOrderGroup; uint32_t dwTagId; void *lpDependencies; void *lpServiceStartName; void *lpDisplayName',
);
export const SERVICE_FAILURE_ACTIONSW = structure(
  'uint32_t dwResetPeriod; void *lpRebootMsg; void *lpCommand; uint32_t cActions; void *lpsaActions',
);
export const SC_ACTION = structure('int32_t Type; uint32_t Delay');
/** A structure of one text, such as SERVICE_DESCRIPTIONW. */
export const ONE_TEXT = structure('void *text');
export const SERVICE_TABLE_ENTRYW = structure('void *lpServiceName; void *lpServiceProc');
// wincrypt
export const CERT_CONTEXT = structure(
  'uint32_t dwCertEncodingType; void *pbCertEncoded; uint32_t cbCertEncoded; void *pCertInfo; void *hCertStore',
);
// winhttp
export const WINHTTP_PROXY_INFO = structure(
  'uint32_t dwAccessType; void *lpszProxy; void *lpszProxyBypass',
);
// netioapi
export const MIB_IPFORWARD_ROW2 = structure(
  'uint64_t InterfaceLuid; uint32_t InterfaceIndex; uint8_t destination[28]; uint8_t prefixLength; uint8_t spare[3]; uint8_t nextHop[28]; uint8_t sitePrefixLength[4]; uint32_t ValidLifetime; uint32_t PreferredLifetime; uint32_t Metric; uint32_t Protocol; uint8_t flags[4]; uint32_t Age; uint32_t Origin',
);
// iptypes
/** IP_ADAPTER_ADDRESSES_LH. */
export const IP_ADAPTER_ADDRESSES = structure(
  'uint32_t Length; uint32_t IfIndex; void *Next; void *AdapterName; void *FirstUnicastAddress; void *FirstAnycastAddress; void *FirstMulticastAddress; void *FirstDnsServerAddress; void *DnsSuffix; void *Description; void *FriendlyName; uint8_t PhysicalAddress[8]; uint32_t PhysicalAddressLength; uint32_t Flags; uint32_t Mtu; uint32_t IfType; uint32_t OperStatus; uint32_t Ipv6IfIndex; uint32_t ZoneIndices[16]; void *FirstPrefix; uint64_t TransmitLinkSpeed; uint64_t ReceiveLinkSpeed; void *FirstWinsServerAddress; void *FirstGatewayAddress; uint32_t Ipv4Metric; uint32_t Ipv6Metric',
);
/** IP_ADAPTER_UNICAST_ADDRESS_LH. */
export const IP_ADAPTER_UNICAST_ADDRESS = structure(
  'uint32_t Length; uint32_t Flags; void *Next; void *lpSockaddr; int32_t iSockaddrLength; int32_t spare; int32_t PrefixOrigin; int32_t SuffixOrigin; int32_t DadState; uint32_t ValidLifetime; uint32_t PreferredLifetime; uint32_t LeaseLifetime; uint8_t OnLinkPrefixLength',
);
// netioapi
export const MIB_UNICASTIPADDRESS_ROW = structure(
  'uint8_t Address[28]; uint64_t InterfaceLuid; uint32_t InterfaceIndex; uint32_t PrefixOrigin; uint32_t SuffixOrigin; uint32_t ValidLifetime; uint32_t PreferredLifetime; uint8_t OnLinkPrefixLength; uint8_t SkipAsSource; uint32_t DadState; uint32_t ScopeId; uint64_t CreationTimeStamp',
);
export const MIB_IPINTERFACE_ROW = structure(
  'uint16_t Family; uint64_t InterfaceLuid; uint32_t InterfaceIndex; uint32_t MaxReassemblySize; uint64_t InterfaceIdentifier; uint32_t advertisementIntervals[2]; uint8_t AdvertisingEnabled; uint8_t ForwardingEnabled; uint8_t flags[7]; uint32_t RouterDiscoveryBehavior; uint32_t times[4]; uint32_t linkLocal[2]; uint32_t ZoneIndices[16]; uint32_t SitePrefixLength; uint32_t Metric; uint32_t NlMtu; uint8_t supports[4]; uint32_t ReachableTime; uint8_t offloads[3]',
);
// fwpmtypes: a union is declared as its largest member, and a nested structure as its fields
export const FWPM_SUBLAYER0 = structure(
  'uint8_t subLayerKey[16]; void *name; void *description; uint32_t flags; void *providerKey; uint32_t dataSize; void *data; uint16_t weight',
);
export const FWPM_FILTER0 = structure(
  'uint8_t filterKey[16]; void *name; void *description; uint32_t flags; void *providerKey; uint32_t dataSize; void *data; uint8_t layerKey[16]; uint8_t subLayerKey[16]; uint32_t weightType; uint64_t weight; uint32_t numFilterConditions; void *filterCondition; uint32_t actionType; uint8_t filterType[16]; uint64_t rawContext; uint64_t spare; void *reserved; uint64_t filterId; uint32_t effectiveWeightType; uint64_t effectiveWeight',
);
export const FWPM_FILTER_CONDITION0 = structure(
  'uint8_t fieldKey[16]; uint32_t matchType; uint32_t spare; uint32_t valueType; uint64_t value',
);
export const FWPM_FILTER_ENUM_TEMPLATE0 = structure(
  'void *providerKey; uint8_t layerKey[16]; uint32_t enumType; uint32_t flags; void *providerContextTemplate; uint32_t numFilterConditions; void *filterCondition; uint32_t actionMask; void *calloutKey',
);
// fwptypes
export const FWP_V4_ADDR_AND_MASK = structure('uint32_t addr; uint32_t mask');
