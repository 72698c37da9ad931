import type { Handle } from './kernel32.js';
import { lazily, loadSystemLibrary } from './calls/system-library.js';

export const CREATE_NEW_CONSOLE = 0x10;
export const DETACHED_PROCESS = 0x8;
export const CREATE_NEW_PROCESS_GROUP = 0x200;
export const CREATE_UNICODE_ENVIRONMENT = 0x400;
export const EXTENDED_STARTUPINFO_PRESENT = 0x8_0000;
export const CREATE_BREAKAWAY_FROM_JOB = 0x100_0000;

export const PROC_THREAD_ATTRIBUTE_HANDLE_LIST = 0x2_0002;
export const PROC_THREAD_ATTRIBUTE_JOB_LIST = 0x2_000d;

export const PROCESS_TERMINATE = 0x1;
export const PROCESS_QUERY_INFORMATION = 0x400;
export const PROCESS_QUERY_LIMITED_INFORMATION = 0x1000;
export const SYNCHRONIZE = 0x10_0000;

export const WAIT_TIMEOUT = 258;
export const TH32CS_SNAPPROCESS = 0x2;

/** Starting, watching, naming and ending processes. */
export const processes = lazily(() => {
  const { bind, koffi } = loadSystemLibrary('kernel32.dll');
  return {
    koffi,
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-createprocessw
    CreateProcessW: bind<
      (
        application: string,
        commandLine: Buffer,
        processSecurity: null,
        threadSecurity: null,
        inheritHandles: number,
        flags: number,
        environment: Buffer,
        directory: string,
        startupInfo: Buffer,
        processInformation: Buffer,
      ) => number
    >(
      'int __stdcall CreateProcessW(str16 application, void *commandLine, void *processSecurity, void *threadSecurity, int inheritHandles, uint32_t flags, void *environment, str16 directory, void *startupInfo, void *processInformation)',
    ),
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-initializeprocthreadattributelist
    InitializeProcThreadAttributeList: bind<
      (list: Buffer | null, count: number, flags: number, sizeBytes: [number]) => number
    >(
      'int __stdcall InitializeProcThreadAttributeList(void *list, uint32_t count, uint32_t flags, _Inout_ uintptr_t *size)',
    ),
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-updateprocthreadattribute
    UpdateProcThreadAttribute: bind<
      (
        list: Buffer,
        flags: number,
        attribute: number,
        value: Buffer,
        sizeBytes: number,
        previous: null,
        returnSize: null,
      ) => number
    >(
      'int __stdcall UpdateProcThreadAttribute(void *list, uint32_t flags, uintptr_t attribute, void *value, uintptr_t size, void *previous, void *returnSize)',
    ),
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-deleteprocthreadattributelist
    DeleteProcThreadAttributeList: bind<(list: Buffer) => void>(
      'void __stdcall DeleteProcThreadAttributeList(void *list)',
    ),
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-openprocess
    OpenProcess: bind<(access: number, inherit: number, pid: number) => Handle>(
      'intptr_t __stdcall OpenProcess(uint32_t access, int inherit, uint32_t pid)',
    ),
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getprocesstimes
    GetProcessTimes: bind<
      (
        process: Handle,
        created: [number | bigint],
        exited: [number | bigint],
        kernel: [number | bigint],
        user: [number | bigint],
      ) => number
    >(
      'int __stdcall GetProcessTimes(intptr_t process, _Out_ uint64_t *created, _Out_ uint64_t *exited, _Out_ uint64_t *kernel, _Out_ uint64_t *user)',
    ),
    // https://learn.microsoft.com/windows/win32/api/psapi/nf-psapi-getprocessmemoryinfo, which has this name in kernel32
    K32GetProcessMemoryInfo: bind<(process: Handle, counters: Buffer, sizeBytes: number) => number>(
      'int __stdcall K32GetProcessMemoryInfo(intptr_t process, void *counters, uint32_t size)',
    ),
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getexitcodeprocess
    GetExitCodeProcess: bind<(process: Handle, code: [number]) => number>(
      'int __stdcall GetExitCodeProcess(intptr_t process, _Out_ uint32_t *code)',
    ),
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-terminateprocess
    TerminateProcess: bind<(process: Handle, code: number) => number>(
      'int __stdcall TerminateProcess(intptr_t process, uint32_t code)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-queryfullprocessimagenamew
    QueryFullProcessImageNameW: bind<
      (process: Handle, flags: number, name: Buffer, characters: [number]) => number
    >(
      'int __stdcall QueryFullProcessImageNameW(intptr_t process, uint32_t flags, void *name, _Inout_ uint32_t *characters)',
    ),
    // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitforsingleobject
    WaitForSingleObject: bind<(handle: Handle, milliseconds: number) => number>(
      'uint32_t __stdcall WaitForSingleObject(intptr_t handle, uint32_t milliseconds)',
    ),
    // https://learn.microsoft.com/windows/win32/api/tlhelp32/nf-tlhelp32-createtoolhelp32snapshot
    CreateToolhelp32Snapshot: bind<(flags: number, pid: number) => Handle>(
      'intptr_t __stdcall CreateToolhelp32Snapshot(uint32_t flags, uint32_t pid)',
    ),
    // https://learn.microsoft.com/windows/win32/api/tlhelp32/nf-tlhelp32-process32firstw
    Process32FirstW: bind<(snapshot: Handle, entry: Buffer) => number>(
      'int __stdcall Process32FirstW(intptr_t snapshot, void *entry)',
    ),
    // https://learn.microsoft.com/windows/win32/api/tlhelp32/nf-tlhelp32-process32nextw
    Process32NextW: bind<(snapshot: Handle, entry: Buffer) => number>(
      'int __stdcall Process32NextW(intptr_t snapshot, void *entry)',
    ),
  };
});
