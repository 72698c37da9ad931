import type { Handle } from './kernel32.js';
import { lazily, loadSystemLibrary } from './calls/system-library.js';

export const PROCESS_QUERY_LIMITED_INFORMATION = 0x1000;
export const TOKEN_QUERY = 8;
export const TokenUser = 1;
export const TokenGroups = 2;

/** Processes and in whose name they run. */
export const tokens = lazily(() => {
  const { bind: kernel, koffi } = loadSystemLibrary('kernel32.dll');
  const { bind } = loadSystemLibrary('advapi32.dll');
  return {
    koffi,
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-openprocess
    OpenProcess: kernel<(access: number, inherit: number, processId: number) => Handle>(
      'intptr_t __stdcall OpenProcess(uint32_t access, int inherit, uint32_t processId)',
    ),
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-openprocesstoken
    OpenProcessToken: bind<(process: Handle, access: number, outToken: [Handle]) => number>(
      'int __stdcall OpenProcessToken(intptr_t process, uint32_t access, _Out_ intptr_t *token)',
    ),
    // https://learn.microsoft.com/windows/win32/api/securitybaseapi/nf-securitybaseapi-gettokeninformation
    GetTokenInformation: bind<
      (token: Handle, kind: number, out: Buffer, sizeBytes: number, outUsed: [number]) => number
    >(
      'int __stdcall GetTokenInformation(intptr_t token, int kind, void *out, uint32_t size, _Out_ uint32_t *used)',
    ),
    // https://learn.microsoft.com/windows/win32/api/sddl/nf-sddl-convertsidtostringsidw
    ConvertSidToStringSidW: bind<(sid: bigint, outText: [bigint | null]) => number>(
      'int __stdcall ConvertSidToStringSidW(void *sid, _Out_ void **text)',
    ),
  };
});
