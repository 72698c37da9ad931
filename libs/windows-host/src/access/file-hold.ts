import { quoteText } from '@wins/wins-program';
import { INVALID_HANDLE_VALUE, check } from '../win32/kernel32.js';
import { files, OPEN_EXISTING } from '../win32/files.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import {
  FILE_FLAG_OPEN_REPARSE_POINT,
  FILE_SHARE_READ,
  GENERIC_READ,
} from '../win32/file-facts.js';

/** Keeps a file from being changed until it is closed, by the caller. */
export interface FileHold {
  /** Idempotent. */
  close(): void;
}

/**
 * Holds a file: until it is closed others can read and run it, but not write, rename or delete it.
 *
 * @throws WindowsError `notFound`; `busy` when someone has it open for writing.
 */
export function holdFile(path: string): FileHold {
  const handle = files().CreateFileW(
    path,
    GENERIC_READ,
    FILE_SHARE_READ,
    null,
    OPEN_EXISTING,
    FILE_FLAG_OPEN_REPARSE_POINT,
    0,
  );
  check(handle !== INVALID_HANDLE_VALUE, 'CreateFileW', `held ${quoteText(path)}`);
  return new OwnedHandle(handle);
}
