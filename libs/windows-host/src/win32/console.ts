import { lazily, loadSystemLibrary } from './system-library.js';

export const MEM_COMMIT_AND_RESERVE = 0x3000;
export const PAGE_READWRITE = 4;
export const PAGE_EXECUTE_READ = 0x20;

/** An address in this process. */
export type Address = bigint;

/** What the console, or whoever ends a container, tells a process. */
export const consoleCalls = lazily(() => {
  const { bind, koffi } = loadSystemLibrary('kernel32.dll');
  const notify = koffi.pointer(koffi.proto('int', ['uint32_t']));
  return {
    registerCallback: (callback: (event: number) => number): Address =>
      koffi.register(callback, notify),
    // https://learn.microsoft.com/windows/console/setconsolectrlhandler
    SetConsoleCtrlHandler: bind<(handler: Address, isAdded: number) => number>(
      'int __stdcall SetConsoleCtrlHandler(void *handler, int add)',
    ),
    // https://learn.microsoft.com/windows/win32/api/libloaderapi/nf-libloaderapi-getmodulehandlew
    GetModuleHandleW: bind<(name: string) => Address | null>(
      'void *__stdcall GetModuleHandleW(str16 name)',
    ),
    // https://learn.microsoft.com/windows/win32/api/libloaderapi/nf-libloaderapi-getprocaddress
    GetProcAddress: bind<(module: Address | null, name: string) => Address | null>(
      'void *__stdcall GetProcAddress(void *module, str name)',
    ),
    // https://learn.microsoft.com/windows/win32/api/memoryapi/nf-memoryapi-virtualalloc
    VirtualAlloc: bind<
      (address: null, sizeBytes: number, type: number, protection: number) => Address | null
    >(
      'void *__stdcall VirtualAlloc(void *address, size_t size, uint32_t type, uint32_t protection)',
    ),
    // https://learn.microsoft.com/windows/win32/api/memoryapi/nf-memoryapi-virtualprotect
    VirtualProtect: bind<
      (address: Address, sizeBytes: number, protection: number, outOld: [number]) => number
    >(
      'int __stdcall VirtualProtect(void *address, size_t size, uint32_t protection, _Out_ uint32_t *old)',
    ),
    // https://learn.microsoft.com/windows/win32/devnotes/rtlmovememory
    RtlMoveMemory: bind<(to: Address, from: Buffer, sizeBytes: number) => void>(
      'void __stdcall RtlMoveMemory(void *to, void *from, size_t size)',
    ),
  };
});
