import { quoteText } from '@wins/wins-program';
import type { FileHold } from './file-hold.js';
import { FILE_FLAG_OPEN_REPARSE_POINT, GENERIC_READ, GENERIC_WRITE } from '../win32/file-facts.js';
import { files } from '../win32/files.js';
import { check, INVALID_HANDLE_VALUE } from '../win32/kernel32.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import { WindowsError } from '../windows-error.js';

const OPEN_ALWAYS = 4;

/**
 * Takes a file for this process alone, and makes it when it is not there; it stays when it is given back. The system takes it
 * back from a process that ends, however it ends. Who may open the file may take it, so its folder should be private.
 *
 * @returns Undefined while another has it open in any way.
 * @throws WindowsError `notFound` when its folder is absent, `accessDenied`.
 */
export function lockFile(path: string): FileHold | undefined {
  try {
    const handle = files().CreateFileW(
      path,
      GENERIC_READ | GENERIC_WRITE,
      0,
      null,
      OPEN_ALWAYS,
      FILE_FLAG_OPEN_REPARSE_POINT,
      0,
    );
    check(handle !== INVALID_HANDLE_VALUE, 'CreateFileW', `locked ${quoteText(path)}`);
    return new OwnedHandle(handle);
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'busy') return undefined;
    throw error;
  }
}
