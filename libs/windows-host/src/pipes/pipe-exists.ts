import { namedPipes } from '../win32/named-pipes.js';
import { kernel32 } from '../win32/kernel32.js';
import { systemError } from '../windows-error.js';

const FILE_NOT_FOUND = 2;
const SEM_TIMEOUT = 121;
/** 0 would be the time that the server of the pipe has chosen. */
const SHORTEST_MS = 1;

/**
 * Whether any process serves a pipe. Nothing connects to it: its server notices nothing, and no instance is taken.
 *
 * @param address - `\\\\.\\pipe\\NAME`.
 * @throws WindowsError for what the system says besides yes and no.
 */
export function pipeExists(address: string): boolean {
  if (namedPipes().WaitNamedPipeW(address, SHORTEST_MS) !== 0) return true;
  const errorNumber = kernel32().GetLastError();
  // All of its instances are taken.
  if (errorNumber === SEM_TIMEOUT) return true;
  if (errorNumber === FILE_NOT_FOUND) return false;
  throw systemError(`looked for the pipe ${address}`, {
    functionName: 'WaitNamedPipeW',
    errorNumber,
  });
}
