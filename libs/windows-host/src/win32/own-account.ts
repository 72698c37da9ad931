import { check, kernel32, type Handle } from './kernel32.js';
import { OwnedHandle } from './owned-handle.js';
import { TOKEN_QUERY, tokens, TokenUser } from './tokens.js';

/** The pseudo handle that GetCurrentProcess gives. */
const THIS_PROCESS: Handle = -1;

/** The account of this process as a SID. @throws WindowsError */
export function ownAccount(): string {
  const tried = 'looked for the account of this process';
  const { koffi, OpenProcessToken } = tokens();
  const opened: [Handle] = [0];
  const done = OpenProcessToken(THIS_PROCESS, TOKEN_QUERY, opened);
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
