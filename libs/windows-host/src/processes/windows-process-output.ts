import { randomBytes } from 'node:crypto';
import net from 'node:net';

import { processAccount } from '../access/process-account.js';
import { descriptorFromText } from '../access/file-security.js';
import {
  FILE_FLAG_OVERLAPPED,
  FILE_SHARE_ALL,
  files,
  OPEN_EXISTING,
  SECURITY_SQOS_PRESENT,
} from '../win32/files.js';
import { check, INVALID_HANDLE_VALUE } from '../win32/kernel32.js';
import { GENERIC_READ, GENERIC_WRITE } from '../win32/file-facts.js';
import { libuv } from '../win32/calls/libuv.js';
import {
  FILE_FLAG_FIRST_PIPE_INSTANCE,
  namedPipes,
  PIPE_REJECT_REMOTE_CLIENTS,
} from '../win32/named-pipes.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import { securityAttributes } from '../win32/security-attributes.js';
import { WindowsError } from '../windows-error.js';

const PIPE_ACCESS_INBOUND = 1;
const BUFFER_BYTES = 65_536;

/** One output of a child. */
export interface OutputPipe {
  /** What the child writes; the caller destroys it. */
  readonly stream: net.Socket;
  /** Inheritable; to be closed once the child has it, for otherwise the stream never ends. */
  readonly childEnd: OwnedHandle;
}

/**
 * Makes a pipe from a child to this process. Windows has pipes that can be read without a waiting thread by name only: the name
 * holds 128 random bits, has one instance, and opens for this account, SYSTEM and administrators on this machine alone; the one
 * connection that it takes is made here.
 *
 * @throws WindowsError
 */
export function openOutputPipe(): OutputPipe {
  const name = `\\\\.\\pipe\\rancher-wins-output-${randomBytes(16).toString('hex')}`;
  const tried = 'made a pipe for the output of a program';
  const { CreateNamedPipeW } = namedPipes();
  const { CreateFileW } = files();
  const { user } = processAccount();
  const descriptor = descriptorFromText(`D:P(A;;GA;;;SY)(A;;GA;;;BA)(A;;GA;;;${user})`);
  const server = CreateNamedPipeW(
    name,
    PIPE_ACCESS_INBOUND | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
    PIPE_REJECT_REMOTE_CLIENTS,
    1,
    BUFFER_BYTES,
    BUFFER_BYTES,
    0,
    securityAttributes({ descriptor, inheritable: false }),
  );
  check(server !== INVALID_HANDLE_VALUE, 'CreateNamedPipeW', tried);
  const ours = new OwnedHandle(server);
  let childEnd: OwnedHandle | undefined;
  try {
    const client = CreateFileW(
      name,
      GENERIC_WRITE,
      0,
      securityAttributes({ inheritable: true }),
      OPEN_EXISTING,
      SECURITY_SQOS_PRESENT,
      0,
    );
    check(client !== INVALID_HANDLE_VALUE, 'CreateFileW', tried);
    childEnd = new OwnedHandle(client);
    const fd = libuv().uv_open_osfhandle(ours.value);
    if (fd < 0) throw new WindowsError('unknown', `${tried}: no file descriptor is left`);
    // The descriptor owns the handle from here, and the socket the descriptor.
    ours.release();
    return { stream: new net.Socket({ fd, readable: true, writable: false }), childEnd };
  } catch (error) {
    ours.close();
    childEnd?.close();
    throw error;
  }
}

/** An inheritable handle of the device that is always empty and takes everything; the caller closes it. @throws WindowsError */
export function openNullDevice(): OwnedHandle {
  const { CreateFileW } = files();
  const handle = CreateFileW(
    '\\\\.\\NUL',
    GENERIC_READ | GENERIC_WRITE,
    FILE_SHARE_ALL,
    securityAttributes({ inheritable: true }),
    OPEN_EXISTING,
    0,
    0,
  );
  check(handle !== INVALID_HANDLE_VALUE, 'CreateFileW', 'opened the null device');
  return new OwnedHandle(handle);
}
