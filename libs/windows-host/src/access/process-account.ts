import { takeText } from './file-security.js';
import { advapi32 } from '../win32/advapi32.js';
import { call, OwnedHandle } from '../win32/calls/call.js';
import { kernel32, type Handle } from '../win32/kernel32.js';
import { SID_AND_ATTRIBUTES } from '../win32/structures.js';

/** Account under which a process runs. */
export interface ProcessAccount {
  /** Its SID. */
  readonly user: string;
  /** True for SYSTEM, and for a process with administrator rights enabled. */
  readonly isPrivileged: boolean;
}

const PROCESS_QUERY_LIMITED_INFORMATION = 0x1000;
const TOKEN_QUERY = 8;
const TOKEN_USER = 1;
const TOKEN_GROUPS = 2;

const SYSTEM = 'S-1-5-18';
const ADMINISTRATORS = 'S-1-5-32-544';
const SE_GROUP_ENABLED = 4;
const SE_GROUP_USE_FOR_DENY_ONLY = 0x10;
/** Ample: a token has at most 1,024 groups, each with 16 bytes and a SID of at most 68. */
const TOKEN_BYTES = 128 * 1024;

/**
 * Returns the account of a process, by default this one.
 * @throws WindowsError `invalidArgument` when there is no such process, `accessDenied` when this process may not query it.
 */
export function processAccount(processId: number = process.pid): ProcessAccount {
  const tried = `cannot find the account of process ${processId}`;
  const { OpenProcess } = kernel32;
  using opened = new OwnedHandle(
    call(tried, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, 0, processId),
  );
  const out: [Handle] = [0];
  call(tried, advapi32.OpenProcessToken, opened.value, TOKEN_QUERY, out);
  using token = new OwnedHandle(out[0]);
  return accountOf(token.value, tried);
}

function accountOf(token: Handle, tried: string): ProcessAccount {
  const user = readInformation(token, TOKEN_USER, tried, (memory) =>
    sidText(SID_AND_ATTRIBUTES.read(memory).Sid, tried),
  );
  if (user === SYSTEM) return { user, isPrivileged: true };
  const isPrivileged = readInformation(token, TOKEN_GROUPS, tried, (groups) =>
    Array.from({ length: groups.readUInt32LE(0) }, (_, index) =>
      SID_AND_ATTRIBUTES.read(groups, 8 + SID_AND_ATTRIBUTES.sizeBytes * index),
    ).some(
      ({ Sid, Attributes }) =>
        (Attributes & (SE_GROUP_ENABLED | SE_GROUP_USE_FOR_DENY_ONLY)) === SE_GROUP_ENABLED &&
        sidText(Sid, tried) === ADMINISTRATORS,
    ),
  );
  return { user, isPrivileged };
}

/** `read` must not copy `memory`, which contains pointers into itself. */
function readInformation<T>(
  token: Handle,
  kind: number,
  tried: string,
  read: (memory: Buffer) => T,
): T {
  const memory = Buffer.alloc(TOKEN_BYTES);
  call(tried, advapi32.GetTokenInformation, token, kind, memory, memory.length, [0]);
  try {
    return read(memory);
  } finally {
    // Keeps the memory alive until here, because koffi does not retain memory that a passed pointer refers to.
    memory.fill(0);
  }
}

function sidText(sid: bigint | null, tried: string): string {
  const out: [bigint | null] = [null];
  call(tried, advapi32.ConvertSidToStringSidW, sid, out);
  return takeText(out);
}
