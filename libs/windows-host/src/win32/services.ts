import type { BackgroundCall } from './calls/background-call.js';
import type { Handle } from './kernel32.js';
import { lazily, loadSystemLibrary } from './calls/system-library.js';

/** A pointer that a call takes: memory of ours, or none. */
type Pointer = Buffer | bigint | null;

/** The calls to the service control manager, from outside of a service and from within. */
export const services = lazily(() => {
  const { bind, koffi } = loadSystemLibrary('advapi32.dll', 'the service control manager');
  return {
    addressOf: (memory: Buffer) => koffi.address(memory),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-openscmanagerw
    OpenSCManagerW: bind<(machine: null, database: null, access: number) => Handle>(
      'intptr_t __stdcall OpenSCManagerW(str16 machine, str16 database, uint32_t access)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-openservicew
    OpenServiceW: bind<(manager: Handle, name: string, access: number) => Handle>(
      'intptr_t __stdcall OpenServiceW(intptr_t manager, str16 name, uint32_t access)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-closeservicehandle
    CloseServiceHandle: bind<(handle: Handle) => number>(
      'int __stdcall CloseServiceHandle(intptr_t handle)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-createservicew
    CreateServiceW: bind<
      (
        manager: Handle,
        name: string,
        displayName: string,
        access: number,
        type: number,
        start: number,
        errorControl: number,
        commandLine: string,
        group: null,
        tag: null,
        dependencies: Buffer,
        account: null,
        password: null,
      ) => Handle
    >(
      'intptr_t __stdcall CreateServiceW(intptr_t manager, str16 name, str16 displayName, uint32_t access, uint32_t type, uint32_t start, uint32_t errorControl, str16 commandLine, str16 group, void *tag, void *dependencies, str16 account, str16 password)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-changeserviceconfigw
    ChangeServiceConfigW: bind<
      (
        service: Handle,
        type: number,
        start: number,
        errorControl: number,
        commandLine: string | null,
        group: null,
        tag: null,
        dependencies: Buffer | null,
        account: null,
        password: null,
        displayName: string | null,
      ) => number
    >(
      'int __stdcall ChangeServiceConfigW(intptr_t service, uint32_t type, uint32_t start, uint32_t errorControl, str16 commandLine, str16 group, void *tag, void *dependencies, str16 account, str16 password, str16 displayName)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-changeserviceconfig2w
    ChangeServiceConfig2W: bind<(service: Handle, level: number, info: Buffer) => number>(
      'int __stdcall ChangeServiceConfig2W(intptr_t service, uint32_t level, void *info)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-queryserviceconfigw
    QueryServiceConfigW: bind<
      (service: Handle, config: Pointer, size: number, needed: [number]) => number
    >(
      'int __stdcall QueryServiceConfigW(intptr_t service, _Out_ void *config, uint32_t size, _Out_ uint32_t *needed)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-queryserviceconfig2w
    QueryServiceConfig2W: bind<
      (service: Handle, level: number, info: Pointer, size: number, needed: [number]) => number
    >(
      'int __stdcall QueryServiceConfig2W(intptr_t service, uint32_t level, _Out_ void *info, uint32_t size, _Out_ uint32_t *needed)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-queryservicestatusex
    QueryServiceStatusEx: bind<
      (service: Handle, level: 0, status: Buffer, size: number, needed: [number]) => number
    >(
      'int __stdcall QueryServiceStatusEx(intptr_t service, int level, _Out_ void *status, uint32_t size, _Out_ uint32_t *needed)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-startservicew
    StartServiceW: bind<BackgroundCall<[service: Handle, count: 0, words: null]>>(
      'int __stdcall StartServiceW(intptr_t service, uint32_t count, void *words)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-controlservice
    ControlService: bind<(service: Handle, control: number, status: Buffer) => number>(
      'int __stdcall ControlService(intptr_t service, uint32_t control, _Out_ void *status)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-deleteservice
    DeleteService: bind<(service: Handle) => number>(
      'int __stdcall DeleteService(intptr_t service)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-registerservicectrlhandlerexw
    RegisterServiceCtrlHandlerExW: bind<(name: string, handler: bigint, context: null) => Handle>(
      'intptr_t __stdcall RegisterServiceCtrlHandlerExW(str16 name, void *handler, void *context)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nf-winsvc-setservicestatus
    SetServiceStatus: bind<(service: Handle, status: Buffer) => number>(
      'int __stdcall SetServiceStatus(intptr_t service, void *status)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nc-winsvc-lpservice_main_functionw
    serviceMain: lazily(() =>
      koffi.pointer(koffi.proto('__stdcall', null, 'void', ['uint32_t', 'void *'])),
    ),
    // https://learn.microsoft.com/windows/win32/api/winsvc/nc-winsvc-lphandler_function_ex
    handlerEx: lazily(() =>
      koffi.pointer(
        koffi.proto('__stdcall', null, 'uint32_t', ['uint32_t', 'uint32_t', 'void *', 'void *']),
      ),
    ),
  };
});
