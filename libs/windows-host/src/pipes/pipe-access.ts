import { handleSecurity } from '../access/file-security.js';
import {
  FILE_SHARE_ALL,
  files,
  OPEN_EXISTING,
  READ_CONTROL,
  SECURITY_SQOS_PRESENT,
} from '../win32/files.js';
import { check, INVALID_HANDLE_VALUE } from '../win32/kernel32.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import { SE_KERNEL_OBJECT } from '../win32/security.js';

/**
 * The owner and the access list of a served pipe as SDDL. The server sees an anonymous client connect and
 * disconnect.
 *
 * @param address such as `\\\\.\\pipe\\NAME`.
 * @throws WindowsError `notFound` when no one serves it, `busy`, `accessDenied`.
 */
export function pipeAccess(address: string): string {
  const tried = `read the access list of the pipe ${address}`;
  const { CreateFileW } = files();
  const handle = CreateFileW(
    address,
    READ_CONTROL,
    FILE_SHARE_ALL,
    null,
    OPEN_EXISTING,
    SECURITY_SQOS_PRESENT,
    0,
  );
  check(handle !== INVALID_HANDLE_VALUE, 'CreateFileW', tried);
  const pipe = new OwnedHandle(handle);
  try {
    return handleSecurity(pipe.value, tried, SE_KERNEL_OBJECT);
  } finally {
    pipe.close();
  }
}
