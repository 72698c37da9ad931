import { check, kernel32, type Handle } from './kernel32.js';
import { OwnedHandle } from './owned-handle.js';
import { lazily, loadSystemLibrary } from './system-library.js';

const TOKEN_QUERY = 0x8;
const TokenUser = 1;

const tokens = lazily(() => {
  const advapi32 = loadSystemLibrary('advapi32.dll');
  const { bind } = loadSystemLibrary('kernel32.dll');
  return {
    koffi: advapi32.koffi,
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getcurrentprocess
    GetCurrentProcess: bind<() => Handle>('intptr_t __stdcall GetCurrentProcess()'),
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-openprocesstoken
    OpenProcessToken: advapi32.bind<(process: Handle, access: number, token: [Handle]) => number>(
      'int __stdcall OpenProcessToken(intptr_t process, uint32_t access, _Out_ intptr_t *token)',
    ),
    // https://learn.microsoft.com/windows/win32/api/securitybaseapi/nf-securitybaseapi-gettokeninformation
    GetTokenInformation: advapi32.bind<
      (
        token: Handle,
        kind: number,
        information: Buffer,
        sizeBytes: number,
        used: [number],
      ) => number
    >(
      'int __stdcall GetTokenInformation(intptr_t token, int kind, void *information, uint32_t size, _Out_ uint32_t *used)',
    ),
    // https://learn.microsoft.com/windows/win32/api/sddl/nf-sddl-convertsidtostringsidw
    ConvertSidToStringSidW: advapi32.bind<(sid: bigint, text: [bigint | null]) => number>(
      'int __stdcall ConvertSidToStringSidW(void *sid, _Out_ void **text)',
    ),
  };
});

/** The account of this process as a SID. @throws WindowsError */
export function ownAccount(): string {
  const tried = 'looked for the account of this process';
  const { koffi, GetCurrentProcess, OpenProcessToken } = tokens();
  const opened: [Handle] = [0];
  const done = OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, opened);
  check(done !== 0, 'OpenProcessToken', tried);
  const token = new OwnedHandle(opened[0]);
  try {
    // TOKEN_USER points to a SID behind it, of 68 bytes at most.
    const information = Buffer.alloc(256);
    const { GetTokenInformation: read, ConvertSidToStringSidW: convert } = tokens();
    const found = read(token.value, TokenUser, information, information.length, [0]);
    check(found !== 0, 'GetTokenInformation', tried);
    const text: [bigint | null] = [null];
    const converted = convert(information.readBigUInt64LE(0), text);
    check(converted !== 0, 'ConvertSidToStringSidW', tried);
    try {
      return koffi.decode(text[0], 'char16_t', -1) as string;
    } finally {
      kernel32().LocalFree(text[0]);
    }
  } finally {
    token.close();
  }
}
