import { systemLibrary } from './calls/system-library.js';

/** A HANDLE as a number; koffi's `intptr_t`. */
export type Handle = number;

export const INVALID_HANDLE_VALUE: Handle = -1;
export const INFINITE = 0xffff_ffff;

export const READ_CONTROL = 0x2_0000;
export const FILE_READ_ATTRIBUTES = 0x80;
export const GENERIC_READ = 0x8000_0000;
export const GENERIC_WRITE = 0x4000_0000;
export const FILE_SHARE_READ = 1;
export const FILE_SHARE_ALL = 7;
export const CREATE_NEW = 1;
export const OPEN_EXISTING = 3;
export const OPEN_ALWAYS = 4;
/** Opens a link itself instead of its target. */
export const FILE_FLAG_OPEN_REPARSE_POINT = 0x20_0000;
export const FILE_FLAG_OVERLAPPED = 0x4000_0000;
/** Required to open a folder. */
export const FILE_FLAG_BACKUP_SEMANTICS = 0x0200_0000;
/** The name of the pipe must be new. */
export const FILE_FLAG_FIRST_PIPE_INSTANCE = 0x0008_0000;
/**
 * When used alone, hides a pipe client's identity from the server. When combined with SECURITY_IDENTIFICATION, lets the
 * server see the identity but not impersonate the client.
 */
export const SECURITY_SQOS_PRESENT = 0x0010_0000;
export const SECURITY_IDENTIFICATION = 0x0001_0000;
/** The only nonzero flag in the mode of our pipes. The flags for byte type, byte read mode and blocking calls are 0. */
export const PIPE_REJECT_REMOTE_CLIENTS = 8;

/** Functions grouped by header. Pages: `https://learn.microsoft.com/windows/win32/api/HEADER/nf-HEADER-NAME`, in lower case. */
export const kernel32 = systemLibrary('kernel32.dll', 'Windows', [
  // errhandlingapi, handleapi, synchapi
  'uint32_t GetLastError()',
  'int CloseHandle(intptr_t handle)',
  'intptr_t CreateEventW(void *security, int manual, int signalled, str16 name)',
  'intptr_t OpenEventW(uint32_t access, int inherited, str16 name)',
  'int SetEvent(intptr_t event)',
  'int ResetEvent(intptr_t event)',
  'uint32_t WaitForSingleObject(intptr_t handle, uint32_t milliseconds)',
  // fileapi
  'intptr_t CreateFileW(str16 name, uint32_t access, uint32_t share, void *security, uint32_t disposition, uint32_t flags, intptr_t template)',
  'int CreateDirectoryW(str16 path, void *security)',
  'int GetFileInformationByHandle(intptr_t file, void *information)',
  'uint32_t GetFinalPathNameByHandleW(intptr_t file, void *path, uint32_t characters, uint32_t flags)',
  // namedpipeapi
  'int ConnectNamedPipe(intptr_t pipe, void *overlapped)',
  'int WaitNamedPipeW(str16 name, uint32_t timeout)',
  'int DisconnectNamedPipe(intptr_t pipe)',
  // ioapiset
  'int GetOverlappedResult(intptr_t handle, void *overlapped, _Out_ uint32_t *bytes, int wait)',
  'int CancelIoEx(intptr_t handle, void *overlapped)',
  // winbase
  'void *LocalFree(void *memory)',
  'void *GlobalFree(void *memory)',
  'int lstrlenW(void *text)',
  'int MoveFileExW(str16 from, str16 to, uint32_t flags)',
  'intptr_t CreateNamedPipeW(str16 name, uint32_t openMode, uint32_t pipeMode, uint32_t maxInstances, uint32_t outBuffer, uint32_t inBuffer, uint32_t defaultTimeout, void *attributes)',
  'int GetNamedPipeClientProcessId(intptr_t pipe, _Out_ uint32_t *processId)',
  'int GetNamedPipeClientSessionId(intptr_t pipe, _Out_ uint32_t *session)',
  'int GetNamedPipeServerProcessId(intptr_t pipe, _Out_ uint32_t *processId)',
  'int QueryFullProcessImageNameW(intptr_t process, uint32_t flags, void *name, _Inout_ uint32_t *characters)',
  'int RegisterWaitForSingleObject(_Out_ intptr_t *wait, intptr_t object, void *callback, uint64_t context, uint32_t milliseconds, uint32_t flags)',
  // threadpoollegacyapiset
  'int UnregisterWaitEx(intptr_t wait, intptr_t completionEvent)',
  // jobapi2, but `IsProcessInJob` is from jobapi
  'intptr_t CreateJobObjectW(void *security, str16 name)',
  'int SetInformationJobObject(intptr_t job, int kind, void *information, uint32_t size)',
  'int QueryInformationJobObject(intptr_t job, int kind, void *information, uint32_t size, void *used)',
  'int TerminateJobObject(intptr_t job, uint32_t code)',
  'int IsProcessInJob(intptr_t process, intptr_t job, _Out_ int *result)',
  // processthreadsapi
  'int CreateProcessW(str16 application, void *commandLine, void *processSecurity, void *threadSecurity, int inheritHandles, uint32_t flags, void *environment, str16 directory, void *startupInfo, void *processInformation)',
  'int InitializeProcThreadAttributeList(void *list, uint32_t count, uint32_t flags, _Inout_ uintptr_t *size)',
  'int UpdateProcThreadAttribute(void *list, uint32_t flags, uintptr_t attribute, void *value, uintptr_t size, void *previous, void *returnSize)',
  'void DeleteProcThreadAttributeList(void *list)',
  'intptr_t OpenProcess(uint32_t access, int inherit, uint32_t pid)',
  'int GetProcessTimes(intptr_t process, _Out_ uint64_t *created, _Out_ uint64_t *exited, _Out_ uint64_t *kernel, _Out_ uint64_t *user)',
  'int ProcessIdToSessionId(uint32_t pid, _Out_ uint32_t *session)',
  'int GetExitCodeProcess(intptr_t process, _Out_ uint32_t *code)',
  'int TerminateProcess(intptr_t process, uint32_t code)',
  'intptr_t CreateThread(void *security, size_t stackSize, void *start, void *parameter, uint32_t flags, _Out_ uint32_t *id)',
  'intptr_t CreateRemoteThread(intptr_t process, void *security, size_t stackSize, void *start, void *parameter, uint32_t flags, _Out_ uint32_t *id)',
  // wow64apiset
  'int IsWow64Process(intptr_t process, _Out_ int *isWow64)',
  // psapi, documented without the prefix K32
  'int K32GetProcessMemoryInfo(intptr_t process, void *counters, uint32_t size)',
  // tlhelp32
  'intptr_t CreateToolhelp32Snapshot(uint32_t flags, uint32_t pid)',
  'int Process32FirstW(intptr_t snapshot, void *entry)',
  'int Process32NextW(intptr_t snapshot, void *entry)',
  // https://learn.microsoft.com/windows/console/setconsolectrlhandler
  'int SetConsoleCtrlHandler(void *handler, int add)',
]);
