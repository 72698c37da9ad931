import { quoteText, type FileHold } from '@wins/base';
import { openFile } from '../win32/calls/call.js';
import * as win32 from '../win32/kernel32.js';
import { unlessFails } from '../windows-error.js';

/**
 * Holds a file: until the hold is closed, others can read and run the file, but not write, rename or delete it.
 *
 * @throws WindowsError `notFound`; `busy` when someone has the file open for writing.
 */
export function holdFile(path: string): FileHold {
  return openFile(`cannot hold ${quoteText(path)}`, path, {
    access: win32.GENERIC_READ,
    share: win32.FILE_SHARE_READ,
    flags: win32.FILE_FLAG_OPEN_REPARSE_POINT,
  });
}

/**
 * Locks a file for this process; creates a missing file and never removes it. The system releases the lock when the
 * process ends. Every account that may open the file can lock it, so keep its folder private. Returns undefined while
 * another process has the file open.
 *
 * @throws WindowsError `notFound` when its folder is missing, `accessDenied`.
 */
export function lockFile(path: string): FileHold | undefined {
  const opening = {
    access: win32.GENERIC_READ | win32.GENERIC_WRITE,
    share: 0,
    disposition: win32.OPEN_ALWAYS,
    flags: win32.FILE_FLAG_OPEN_REPARSE_POINT,
  };
  return unlessFails(() => openFile(`cannot lock ${quoteText(path)}`, path, opening), 'busy');
}
