import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { descriptorFromText, securityAttributes } from '../access/file-security.js';
import { processAccount } from '../access/process-account.js';
import { socketOfPipe } from './pipe-socket.js';
import { call, OwnedHandle, openFile } from '../win32/calls/call.js';
import * as win32 from '../win32/kernel32.js';

const PIPE_ACCESS_INBOUND = 1;
const BUFFER_BYTES = 65_536;

export interface OutputPipe {
  /** The caller destroys it. */
  readonly stream: Socket;
  /** Inheritable. Close it once the child has it; otherwise the stream never ends. */
  readonly childEnd: OwnedHandle;
}

/**
 * Uses a named pipe, because reading any other kind of pipe blocks a thread. The name has 128 random bits. Only this account,
 * SYSTEM and administrators may open the pipe. No other process can open it later, because the pipe has a single instance and
 * this function opens that instance at once.
 */
export function openOutputPipe(): OutputPipe {
  const name = `\\\\.\\pipe\\rancher-wins-output-${randomBytes(16).toString('hex')}`;
  const tried = 'cannot create a pipe for the output of a program';
  const { user } = processAccount();
  const descriptor = descriptorFromText(`D:P(A;;GA;;;SY)(A;;GA;;;BA)(A;;GA;;;${user})`);
  const server = call(
    tried,
    win32.kernel32.CreateNamedPipeW,
    name,
    PIPE_ACCESS_INBOUND | win32.FILE_FLAG_OVERLAPPED | win32.FILE_FLAG_FIRST_PIPE_INSTANCE,
    win32.PIPE_REJECT_REMOTE_CLIENTS,
    1,
    BUFFER_BYTES,
    BUFFER_BYTES,
    0,
    securityAttributes(descriptor),
  );
  using ours = new OwnedHandle(server);
  const childEnd = openFile(tried, name, {
    access: win32.GENERIC_WRITE,
    share: 0,
    security: securityAttributes(undefined, true),
    flags: win32.SECURITY_SQOS_PRESENT,
  });
  try {
    return { stream: socketOfPipe(ours, false), childEnd };
  } catch (error) {
    childEnd.close();
    throw error;
  }
}

/** The handle is inheritable; the caller closes it. */
export function openNullDevice(): OwnedHandle {
  return openFile('cannot open the null device', '\\\\.\\NUL', {
    access: win32.GENERIC_READ | win32.GENERIC_WRITE,
    security: securityAttributes(undefined, true),
  });
}
