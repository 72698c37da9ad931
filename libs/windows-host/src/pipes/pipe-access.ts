import { handleSecurity } from '../access/file-security.js';
import { SE_KERNEL_OBJECT } from '../win32/advapi32.js';
import { openFile } from '../win32/files.js';
import { kernel32, READ_CONTROL, SECURITY_SQOS_PRESENT } from '../win32/kernel32.js';
import { systemError } from '../windows-error.js';

const FILE_NOT_FOUND = 2;
const SEM_TIMEOUT = 121;
/** 0 would be the time that the server of the pipe has chosen. */
const SHORTEST_MS = 1;

/**
 * The owner and the access list of a served pipe as SDDL. The server sees an anonymous client connect and
 * disconnect.
 *
 * @param address such as `\\\\.\\pipe\\NAME`.
 * @throws WindowsError `notFound` when no one serves it, `busy`, `accessDenied`.
 */
export function pipeAccess(address: string): string {
  const tried = `cannot read the access list of the pipe ${address}`;
  const opening = { access: READ_CONTROL, flags: SECURITY_SQOS_PRESENT };
  using pipe = openFile(tried, address, opening);
  return handleSecurity(pipe.value, tried, SE_KERNEL_OBJECT);
}

/**
 * Returns true when any process serves a pipe. Does not connect, so its server notices nothing and no instance is used.
 *
 * @param address - `\\\\.\\pipe\\NAME`.
 * @throws WindowsError for what the system says besides yes and no.
 */
export function pipeExists(address: string): boolean {
  const { GetLastError, WaitNamedPipeW } = kernel32;
  if (WaitNamedPipeW(address, SHORTEST_MS) !== 0) return true;
  const errorNumber = GetLastError();
  // All instances are in use.
  if (errorNumber === SEM_TIMEOUT) return true;
  if (errorNumber === FILE_NOT_FOUND) return false;
  const functionName = WaitNamedPipeW.name;
  throw systemError(`cannot find the pipe ${address}`, { functionName, errorNumber });
}
