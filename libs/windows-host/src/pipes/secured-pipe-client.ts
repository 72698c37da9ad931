import {
  parseSecurityDescriptor,
  messageOf,
  type PipePath,
  type PipeServerCheck,
} from '@wins/base';
import { type ProcessAccount, processAccount } from '../access/process-account.js';
import { PRIVILEGED, whoMay } from '../access/who-may-write.js';
import { handleSecurity } from '../access/file-security.js';
import {
  systemError,
  withNodeCode,
  unlessFails,
  WindowsError,
  type NodeCode,
} from '../windows-error.js';
import { socketOfPipe } from '../processes/pipe-socket.js';
import { processIdentity, type ProcessIdentity } from '../processes/windows-process.js';
import { serviceControlManager } from '../services/service-control-manager.js';
import { SE_KERNEL_OBJECT } from '../win32/advapi32.js';
import { call, openFile, type OwnedHandle } from '../win32/calls/call.js';
import * as win32 from '../win32/kernel32.js';

/** Evidence about the server of a pipe, gathered before the client sends anything. */
export interface PipeServerEvidence {
  readonly serverPid: number;
  /** Undefined when the service is not registered or does not run. */
  readonly servicePid: number | undefined;
  /** Account of the server; undefined when the server cannot be queried, for example from within a container. */
  readonly account: ProcessAccount | undefined;
  readonly sddl: string;
}

/** FILE_CREATE_PIPE_INSTANCE, WRITE_DAC, WRITE_OWNER: the rights to serve the pipe, or to grant oneself that right. */
const SERVE = 0x4 | 0x4_0000 | 0x8_0000;

/**
 * Judges whether the server of a pipe is the service, or has the privileges to replace the service anyway. Missing or
 * inconsistent evidence counts against the server.
 *
 * Requires two things, because each alone can be forged or mistaken:
 *
 * - The owner of the pipe is SYSTEM, Administrators or the account of a privileged server. Only a privileged process can
 *   create such a pipe.
 * - The server is the service or a privileged process. The PID alone proves nothing, because it may be reused. If the server
 *   cannot be queried, for example from within a container, it is trusted only if no unprivileged account has the right to
 *   serve the pipe.
 */
export function judgePipeServer(evidence: PipeServerEvidence) {
  const { serverPid, servicePid, account, sddl } = evidence;
  const { owner } = parseSecurityDescriptor(sddl);
  const refuse = (reason: string) => ({ isTrusted: false, reason });
  const trust = (reason: string) => ({ isTrusted: true, reason });
  const who = `process ${serverPid}`;
  const isOwnedByPrivileged =
    owner !== undefined &&
    (PRIVILEGED.includes(owner) || (account?.isPrivileged === true && account.user === owner));
  if (!isOwnedByPrivileged)
    return refuse(`the pipe belongs to ${owner ?? 'an unknown account'}, and ${who} serves it`);
  if (serverPid !== 0 && serverPid === servicePid) return trust(`${who} is the service`);
  if (account?.isPrivileged === true) return trust(`${who} runs with privileges`);
  if (account !== undefined)
    return refuse(`${who} serves the pipe as ${account.user}, without privileges`);
  const others = whoMay(sddl, SERVE);
  return others.length === 0
    ? trust(`${who} cannot be queried, and only SYSTEM and Administrators may serve the pipe`)
    : refuse(`${who} cannot be queried, and ${others.join(', ')} may serve the pipe`);
}

/** GENERIC_WRITE would also request FILE_CREATE_PIPE_INSTANCE, the right to serve the pipe. */
const PIPE_READ_AND_WRITE = 0x12_019b;

/** Says which process may serve the pipe. */
export interface SecuredPipeClientOptions {
  /** The trusted service; its process is queried at each attempt. Default: none. */
  readonly service?: string | undefined;
  /** The only process that may serve the pipe. Default: any trusted one. */
  readonly process?: ProcessIdentity | undefined;
}

const FAILURES: readonly NodeCode[] = [
  ['ENOENT', [2], 'no process serves it'],
  ['EBUSY', [231], 'no instance is free'],
  ['EACCES', [5], 'this process may not open it'],
];

/**
 * A client that sends nothing unless the pipe's server is the service or a privileged process. The server cannot
 * impersonate this process. Errors have Node's codes, such as `EACCES` when this process may not open the pipe.
 */
export function securedPipeClient(options: SecuredPipeClientOptions = {}): {
  open(path: Pick<PipePath, 'address'>): ReturnType<PipeServerCheck['open']>;
} {
  return {
    // oxlint-disable-next-line typescript/require-await -- errors are rejections
    open: async ({ address }) => {
      const pipe = openPipe(address);
      try {
        assertServer(pipe, address, options);
      } catch (error) {
        pipe.close();
        throw error;
      }
      return socketOfPipe(pipe);
    },
  };
}

function openPipe(address: string): OwnedHandle {
  const { FILE_FLAG_OVERLAPPED, SECURITY_SQOS_PRESENT, SECURITY_IDENTIFICATION } = win32;
  const flags = FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION;
  const opening = { access: PIPE_READ_AND_WRITE, share: 0, flags };
  try {
    return openFile(`cannot open the pipe ${address}`, address, opening);
  } catch (error) {
    throw withNodeCode(error, ...FAILURES);
  }
}

function assertServer(
  pipe: OwnedHandle,
  address: string,
  { service, process: wanted }: SecuredPipeClientOptions,
): void {
  try {
    const serverPid = serverProcess(pipe, address);
    if (wanted !== undefined) assertProcess(serverPid, wanted);
    const tried = `cannot find the owner of the pipe ${address}`;
    const { isTrusted, reason } = judgePipeServer({
      serverPid,
      // The query fails in a container: the service does not exist there, and a usable service control manager may be missing.
      servicePid:
        service === undefined
          ? undefined
          : unlessFails(() => serviceControlManager().status(service).pid),
      account: unlessFails(() => processAccount(serverPid)),
      sddl: handleSecurity(pipe.value, tried, SE_KERNEL_OBJECT),
    });
    if (!isTrusted) throw new WindowsError('accessDenied', reason);
  } catch (error) {
    // Any error here also means that the server is not trusted.
    const message = `its server is not trusted: ${messageOf(error)}`;
    const code = 'ERR_UNTRUSTED_PIPE_SERVER';
    throw Object.assign(new Error(message, { cause: error }), { code });
  }
}

function assertProcess(serverPid: number, { pid, created }: ProcessIdentity): void {
  if (serverPid === pid && processIdentity(pid)?.created === created) return;
  const message = `process ${serverPid} serves it; wanted process ${pid}, created at ${created}`;
  throw new WindowsError('accessDenied', message);
}

function serverProcess(pipe: OwnedHandle, address: string): number {
  const out: [number] = [0];
  const tried = `cannot find out who serves the pipe ${address}`;
  call(tried, win32.kernel32.GetNamedPipeServerProcessId, pipe.value, out);
  return out[0];
}

/**
 * Returns owner and access list of the pipe at `\\.\pipe\NAME`, as SDDL. The server sees an anonymous client connect
 * and disconnect.
 *
 * @throws WindowsError `notFound` when no process serves it, `busy`, `accessDenied`.
 */
export function pipeAccess(address: string): string {
  const tried = `cannot read the access list of the pipe ${address}`;
  const opening = { access: win32.READ_CONTROL, flags: win32.SECURITY_SQOS_PRESENT };
  using pipe = openFile(tried, address, opening);
  return handleSecurity(pipe.value, tried, SE_KERNEL_OBJECT);
}

const FILE_NOT_FOUND = 2;
/** All instances are in use. */
const SEM_TIMEOUT = 121;
/** 0 would select the default time-out of the pipe's server. */
const SHORTEST_MS = 1;

/** Returns true when any process serves the pipe at `\\.\pipe\NAME`. Does not connect. @throws WindowsError */
export function pipeExists(address: string): boolean {
  const { GetLastError, WaitNamedPipeW } = win32.kernel32;
  if (WaitNamedPipeW(address, SHORTEST_MS) !== 0) return true;
  const errorNumber = GetLastError();
  if (errorNumber === SEM_TIMEOUT) return true;
  if (errorNumber === FILE_NOT_FOUND) return false;
  const functionName = WaitNamedPipeW.name;
  throw systemError(`cannot find the pipe ${address}`, { functionName, errorNumber });
}
