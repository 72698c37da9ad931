import { lazily, loadSystemLibrary } from './calls/system-library.js';

/** A key of the registry; koffi's `intptr_t`. */
export type KeyHandle = number;

/** The C constant 0x80000002, whose sign is extended. */
export const HKEY_LOCAL_MACHINE: KeyHandle = -0x7ffffffe;

export const KEY_READ = 0x2_0019;
export const KEY_WRITE = 0x2_0006;
export const DELETE = 0x1_0000;
/** The registry of a 64-bit system, whatever the bits of the process. */
export const KEY_WOW64_64KEY = 0x100;

export const ERROR_SUCCESS = 0;
export const ERROR_FILE_NOT_FOUND = 2;
export const ERROR_MORE_DATA = 234;
export const ERROR_NO_MORE_ITEMS = 259;

type Out = [number];

/** The registry. Its functions return their error code; the last error says nothing. */
export const registryFunctions = lazily(() => {
  const { bind } = loadSystemLibrary('advapi32.dll');
  return {
    // https://learn.microsoft.com/windows/win32/api/winreg/nf-winreg-regopenkeyexw
    RegOpenKeyExW: bind<
      (key: KeyHandle, path: string, options: number, access: number, opened: Out) => number
    >(
      'int32_t __stdcall RegOpenKeyExW(intptr_t key, str16 path, uint32_t options, uint32_t access, _Out_ intptr_t *opened)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winreg/nf-winreg-regcreatekeyexw
    RegCreateKeyExW: bind<
      (
        key: KeyHandle,
        path: string,
        reserved: 0,
        className: null,
        options: number,
        access: number,
        security: null,
        opened: Out,
        disposition: null,
      ) => number
    >(
      'int32_t __stdcall RegCreateKeyExW(intptr_t key, str16 path, uint32_t reserved, void *className, uint32_t options, uint32_t access, void *security, _Out_ intptr_t *opened, void *disposition)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winreg/nf-winreg-regqueryvalueexw
    RegQueryValueExW: bind<
      (key: KeyHandle, name: string, reserved: null, type: Out, data: Buffer, size: Out) => number
    >(
      'int32_t __stdcall RegQueryValueExW(intptr_t key, str16 name, void *reserved, _Out_ uint32_t *type, void *data, _Inout_ uint32_t *size)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winreg/nf-winreg-regenumvaluew
    RegEnumValueW: bind<
      (
        key: KeyHandle,
        index: number,
        name: Buffer,
        nameLength: Out,
        reserved: null,
        type: Out,
        data: Buffer,
        size: Out,
      ) => number
    >(
      'int32_t __stdcall RegEnumValueW(intptr_t key, uint32_t index, void *name, _Inout_ uint32_t *nameLength, void *reserved, _Out_ uint32_t *type, void *data, _Inout_ uint32_t *size)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winreg/nf-winreg-regsetvalueexw
    RegSetValueExW: bind<
      (
        key: KeyHandle,
        name: string,
        reserved: 0,
        type: number,
        data: Buffer,
        size: number,
      ) => number
    >(
      'int32_t __stdcall RegSetValueExW(intptr_t key, str16 name, uint32_t reserved, uint32_t type, void *data, uint32_t size)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winreg/nf-winreg-regdeletevaluew
    RegDeleteValueW: bind<(key: KeyHandle, name: string) => number>(
      'int32_t __stdcall RegDeleteValueW(intptr_t key, str16 name)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winreg/nf-winreg-regdeletetreew
    RegDeleteTreeW: bind<(key: KeyHandle, path: string) => number>(
      'int32_t __stdcall RegDeleteTreeW(intptr_t key, str16 path)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winreg/nf-winreg-regflushkey
    RegFlushKey: bind<(key: KeyHandle) => number>('int32_t __stdcall RegFlushKey(intptr_t key)'),
    // https://learn.microsoft.com/windows/win32/api/winreg/nf-winreg-regclosekey
    RegCloseKey: bind<(key: KeyHandle) => number>('int32_t __stdcall RegCloseKey(intptr_t key)'),
  };
});
