import { check, kernel32, type Handle } from '../win32/kernel32.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import {
  PROCESS_QUERY_LIMITED_INFORMATION,
  TOKEN_QUERY,
  TokenGroups,
  tokens,
  TokenUser,
} from '../win32/tokens.js';

/** In whose name a process runs. */
export interface ProcessAccount {
  /** The SID of its account. */
  readonly user: string;
  /** Whether it is SYSTEM, or has the rights of an administrator now: one who is not elevated does not. */
  readonly isPrivileged: boolean;
}

const SYSTEM = 'S-1-5-18';
const ADMINISTRATORS = 'S-1-5-32-544';
const SE_GROUP_ENABLED = 4;
const SE_GROUP_USE_FOR_DENY_ONLY = 0x10;
/** Ample: a token has at most 1,024 groups, each with 16 bytes and a SID of at most 68. */
const TOKEN_BYTES = 128 * 1024;

/**
 * In whose name a process runs, by default this one.
 *
 * @throws WindowsError `invalidArgument` when there is no such process, `accessDenied` when this one may not look at it.
 */
export function processAccount(processId: number = process.pid): ProcessAccount {
  const tried = `looked for the account of process ${processId}`;
  const { OpenProcess, OpenProcessToken } = tokens();
  const handle = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, processId);
  check(handle !== 0, 'OpenProcess', tried);
  const opened = new OwnedHandle(handle);
  try {
    const out: [Handle] = [0];
    check(OpenProcessToken(handle, TOKEN_QUERY, out) !== 0, 'OpenProcessToken', tried);
    const token = new OwnedHandle(out[0]);
    try {
      return accountOf(token.value, tried);
    } finally {
      token.close();
    }
  } finally {
    opened.close();
  }
}

function accountOf(token: Handle, tried: string): ProcessAccount {
  const user = readInformation(token, TokenUser, tried, (memory) => sidText(memory, 0, tried));
  if (user === SYSTEM) return { user, isPrivileged: true };
  // TOKEN_GROUPS: a count, then pairs of a pointer to a SID and its attributes, 16 bytes each.
  const isPrivileged = readInformation(token, TokenGroups, tried, (groups) =>
    Array.from({ length: groups.readUInt32LE(0) }, (_, index) => 8 + 16 * index).some(
      (at) =>
        isEnabled(groups.readUInt32LE(at + 8)) && sidText(groups, at, tried) === ADMINISTRATORS,
    ),
  );
  return { user, isPrivileged };
}

function isEnabled(attributes: number): boolean {
  return (attributes & (SE_GROUP_ENABLED | SE_GROUP_USE_FOR_DENY_ONLY)) === SE_GROUP_ENABLED;
}

/** The pointers in what is read lead into the same memory, so it must not be copied. */
function readInformation<T>(
  token: Handle,
  kind: number,
  tried: string,
  read: (memory: Buffer) => T,
): T {
  const memory = Buffer.alloc(TOKEN_BYTES);
  const isRead = tokens().GetTokenInformation(token, kind, memory, memory.length, [0]) !== 0;
  check(isRead, 'GetTokenInformation', tried);
  try {
    return read(memory);
  } finally {
    // A call that is given a pointer does not keep what it leads into: until here it must not be collected.
    memory.fill(0);
  }
}

/** The SID that the pointer at `offset` leads to. */
function sidText(memory: Buffer, offset: number, tried: string): string {
  const out: [bigint | null] = [null];
  const isText = tokens().ConvertSidToStringSidW(memory.readBigUInt64LE(offset), out) !== 0;
  check(isText, 'ConvertSidToStringSidW', tried);
  try {
    return tokens().koffi.decode(out[0], 'char16_t', -1) as string;
  } finally {
    kernel32().LocalFree(out[0]);
  }
}
