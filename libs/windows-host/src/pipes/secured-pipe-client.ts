import { type PipePath, type PipeServerCheck, messageOf } from '@wins/wins-program';
import { processAccount } from '../access/process-account.js';
import { handleSecurity } from '../access/file-security.js';
import { withNodeCode } from '../node-code.js';
import { judgePipeServer } from './pipe-server-identity.js';
import { socketOfPipe } from './pipe-socket.js';
import { serviceControlManager } from '../services/service-control-manager.js';
import { SE_KERNEL_OBJECT } from '../win32/advapi32.js';
import { call } from '../win32/calls/call.js';
import type { OwnedHandle } from '../win32/calls/owned-handle.js';
import { openFile } from '../win32/files.js';
import {
  FILE_FLAG_OVERLAPPED,
  kernel32,
  SECURITY_IDENTIFICATION,
  SECURITY_SQOS_PRESENT,
} from '../win32/kernel32.js';
import { unlessFails, WindowsError } from '../windows-error.js';

/** To read from a pipe and write to it, without FILE_CREATE_PIPE_INSTANCE: GENERIC_WRITE would ask for the right to serve it. */
const PIPE_READ_AND_WRITE = 0x12_019b;

/** How {@link securedPipeClient} knows whom to trust. */
export interface SecuredPipeClientOptions {
  /** The service whose process is trusted, asked for at each attempt. Default: none. */
  readonly service?: string;
}

const FAILURES: readonly (readonly [code: string, errorNumber: number, found: string])[] = [
  ['ENOENT', 2, 'no process serves it'],
  ['EBUSY', 231, 'no instance is free'],
  ['EACCES', 5, 'this process may not open it'],
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
        assertServer(pipe, address, options.service);
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
    return openFile(`opened the pipe ${address}`, address, {
      access: PIPE_READ_AND_WRITE,
      share: 0,
      flags: FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION,
    });
  } catch (error) {
    throw FAILURES.reduce<unknown>(
      (translated, [code, errorNumber, found]) =>
        withNodeCode(translated, code, [errorNumber], found),
      error,
    );
  }
}

function assertServer(pipe: OwnedHandle, address: string, service: string | undefined): void {
  try {
    const serverPid = serverProcess(pipe, address);
    const tried = `looked who owns the pipe ${address}`;
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
      throw new WindowsError('accessDenied', `did not speak to it: ${verdict.reason}`);
  } catch (error) {
    // What cannot be found out is no reason to trust.
    const reason = messageOf(error);
    const message = `its server is not trusted: ${reason}`;
    throw Object.assign(new Error(message, { cause: error }), {
      code: 'ERR_UNTRUSTED_PIPE_SERVER',
    });
  }
}

function serverProcess(pipe: OwnedHandle, address: string): number {
  const out: [number] = [0];
  const tried = `asked who serves the pipe ${address}`;
  call(tried, kernel32.GetNamedPipeServerProcessId, pipe.value, out);
  return out[0];
}
