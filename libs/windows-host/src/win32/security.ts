import type { Handle } from './kernel32.js';
import { lazily, loadSystemLibrary } from './calls/system-library.js';

export const SDDL_REVISION_1 = 1;
export const SE_FILE_OBJECT = 1;
export const SE_KERNEL_OBJECT = 6;
export const OWNER_SECURITY_INFORMATION = 1;
export const GROUP_SECURITY_INFORMATION = 2;
export const DACL_SECURITY_INFORMATION = 4;
/** With the list: nothing is taken over from the folder above. */
export const PROTECTED_DACL_SECURITY_INFORMATION = 0x8000_0000;
/** With the list: what the folder above gives is taken over. */
export const UNPROTECTED_DACL_SECURITY_INFORMATION = 0x2000_0000;

/** Memory that a call allocated: to be freed with LocalFree. */
export type LocalMemory = bigint;

/** Security descriptors and their text. */
export const security = lazily(() => {
  const { bind, koffi } = loadSystemLibrary('advapi32.dll');
  return {
    koffi,
    // https://learn.microsoft.com/windows/win32/api/sddl/nf-sddl-convertstringsecuritydescriptortosecuritydescriptorw
    ConvertStringSecurityDescriptorToSecurityDescriptorW: bind<
      (text: string, revision: number, out: [LocalMemory | null], outSizeBytes: [number]) => number
    >(
      'int __stdcall ConvertStringSecurityDescriptorToSecurityDescriptorW(str16 text, uint32_t revision, _Out_ void **descriptor, _Out_ uint32_t *size)',
    ),
    // https://learn.microsoft.com/windows/win32/api/sddl/nf-sddl-convertsecuritydescriptortostringsecuritydescriptorw
    ConvertSecurityDescriptorToStringSecurityDescriptorW: bind<
      (
        descriptor: LocalMemory | Buffer,
        revision: number,
        information: number,
        out: [LocalMemory | null],
        outCharacters: [number],
      ) => number
    >(
      'int __stdcall ConvertSecurityDescriptorToStringSecurityDescriptorW(void *descriptor, uint32_t revision, uint32_t information, _Out_ void **text, _Out_ uint32_t *length)',
    ),
    // https://learn.microsoft.com/windows/win32/api/securitybaseapi/nf-securitybaseapi-setfilesecurityw
    SetFileSecurityW: bind<(file: string, information: number, descriptor: Buffer) => number>(
      'int __stdcall SetFileSecurityW(str16 file, uint32_t information, void *descriptor)',
    ),
    // https://learn.microsoft.com/windows/win32/api/aclapi/nf-aclapi-getsecurityinfo
    GetSecurityInfo: bind<
      (
        handle: Handle,
        objectType: number,
        information: number,
        owner: null,
        group: null,
        dacl: null,
        sacl: null,
        out: [LocalMemory | null],
      ) => number
    >(
      'uint32_t __stdcall GetSecurityInfo(intptr_t handle, int type, uint32_t information, void *owner, void *group, void *dacl, void *sacl, _Out_ void **descriptor)',
    ),
  };
});
