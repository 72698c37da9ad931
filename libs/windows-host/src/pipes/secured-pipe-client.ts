import {
  parseSecurityDescriptor,
  type PipePath,
  type PipeServerCheck,
  messageOf,
} from '@wins/base';
import { type ProcessAccount, processAccount } from '../access/process-account.js';
import { PRIVILEGED, whoMay } from '../access/who-may-write.js';
import { handleSecurity } from '../access/file-security.js';
import { withNodeCode, type NodeCode, unlessFails, WindowsError } from '../windows-error.js';
import { socketOfPipe } from './pipe-socket.js';
import { processIdentity, type ProcessIdentity } from '../processes/windows-process.js';
import { serviceControlManager } from '../services/service-control-manager.js';
import { SE_KERNEL_OBJECT } from '../win32/advapi32.js';
import { call, type OwnedHandle } from '../win32/calls/call.js';
import { openFile } from '../win32/files.js';
import {
  FILE_FLAG_OVERLAPPED,
  kernel32,
  SECURITY_IDENTIFICATION,
  SECURITY_SQOS_PRESENT,
} from '../win32/kernel32.js';

/** Evidence about the server of a pipe, which a client finds through its own end and before it sends anything. */
export interface PipeServerEvidence {
  readonly serverPid: number;
  /** The process of the registered service; `undefined` when there is none, or none is running. */
  readonly servicePid: number | undefined;
  /** In whose name the server runs; `undefined` when it cannot be looked at, as from within a container. */
  readonly account: ProcessAccount | undefined;
  readonly sddl: string;
}

interface PipeServerVerdict {
  readonly isTrusted: boolean;
  readonly reason: string;
}

/** FILE_CREATE_PIPE_INSTANCE, WRITE_DAC, WRITE_OWNER: to serve the pipe, or to give oneself the right to. */
const SERVE = 0x4 | 0x4_0000 | 0x8_0000;

/**
 * Whether the server of a pipe is the service, or someone who could replace the service anyhow. Pure; whatever is missing or does
 * not fit speaks against it.
 *
 * Two things are wanted, for each alone can be forged or mistaken. The pipe must belong to SYSTEM, to Administrators, or to the
 * account of a privileged server: only a privileged process can make one that does, while the number of a process that has
 * ended may come back as another's. And its server must be the service, or privileged; or, where its process cannot be
 * looked at, as from within a container, no one without privileges may have a right to serve the pipe.
 */
export function judgePipeServer(evidence: PipeServerEvidence): PipeServerVerdict {
  const { serverPid, servicePid, account, sddl } = evidence;
  const { owner } = parseSecurityDescriptor(sddl);
  const refuse = (reason: string): PipeServerVerdict => ({ isTrusted: false, reason });
  const trust = (reason: string): PipeServerVerdict => ({ isTrusted: true, reason });
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
    ? trust(`${who} cannot be looked at, and only SYSTEM and Administrators may serve the pipe`)
    : refuse(`${who} cannot be looked at, and the pipe may be served by ${others.join(', ')}`);
}

/** To read from a pipe and write to it, without FILE_CREATE_PIPE_INSTANCE: GENERIC_WRITE would ask for the right to serve it. */
const PIPE_READ_AND_WRITE = 0x12_019b;

/** How {@link securedPipeClient} knows whom to trust. */
export interface SecuredPipeClientOptions {
  /** The service whose process is trusted, asked for at each attempt. Default: none. */
  readonly service?: string;
  /** The one process that may serve the pipe. Default: any that is trusted. */
  readonly process?: ProcessIdentity;
}

const FAILURES: readonly NodeCode[] = [
  ['ENOENT', [2], 'no process serves it'],
  ['EBUSY', [231], 'no instance is free'],
  ['EACCES', [5], 'this process may not open it'],
];

/**
 * A client that checks who serves the pipe before it sends anything: the service, or who runs with privileges; see `judgePipeServer`. The
 * server cannot act in this process's name. Its errors have Node's code `EACCES` too, when this process may not open the pipe.
 */
export function securedPipeClient(options: SecuredPipeClientOptions = {}): {
  open(path: Pick<PipePath, 'address'>): ReturnType<PipeServerCheck['open']>;
} {
  return {
    // eslint-disable-next-line @typescript-eslint/require-await -- errors are rejections
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
  try {
    return openFile(`cannot open the pipe ${address}`, address, {
      access: PIPE_READ_AND_WRITE,
      share: 0,
      flags: FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION,
    });
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
    const verdict = judgePipeServer({
      serverPid,
      // A container has no such service, and some have no service control manager that one may ask.
      servicePid:
        service === undefined
          ? undefined
          : unlessFails(() => serviceControlManager().status(service).pid),
      account: unlessFails(() => processAccount(serverPid)),
      sddl: handleSecurity(pipe.value, tried, SE_KERNEL_OBJECT),
    });
    if (!verdict.isTrusted)
      throw new WindowsError('accessDenied', `refused to talk to it: ${verdict.reason}`);
  } catch (error) {
    // What cannot be found out is no reason to trust.
    const reason = messageOf(error);
    const message = `its server is not trusted: ${reason}`;
    throw Object.assign(new Error(message, { cause: error }), {
      code: 'ERR_UNTRUSTED_PIPE_SERVER',
    });
  }
}

function assertProcess(serverPid: number, { pid, created }: ProcessIdentity): void {
  if (serverPid === pid && processIdentity(pid)?.created === created) return;
  const found = `refused to talk to it: process ${serverPid} serves it`;
  throw new WindowsError('accessDenied', `${found}; wanted ${pid} of ${created}`);
}

function serverProcess(pipe: OwnedHandle, address: string): number {
  const out: [number] = [0];
  const tried = `cannot find out who serves the pipe ${address}`;
  call(tried, kernel32.GetNamedPipeServerProcessId, pipe.value, out);
  return out[0];
}
