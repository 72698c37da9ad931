import { quoteText } from '@wins/wins-program';
import { handleSecurity } from './file-security.js';
import {
  FILE_ATTRIBUTE_DIRECTORY,
  FILE_ATTRIBUTE_REPARSE_POINT,
  FILE_FLAG_OPEN_REPARSE_POINT,
  FILE_READ_ATTRIBUTES,
  fileFacts,
} from '../win32/file-facts.js';
import {
  FILE_FLAG_BACKUP_SEMANTICS,
  FILE_SHARE_ALL,
  files,
  OPEN_EXISTING,
  READ_CONTROL,
} from '../win32/files.js';
import { check, INVALID_HANDLE_VALUE } from '../win32/kernel32.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';

/** What is at a path, all of it from one open handle. */
export interface FileFacts {
  /** The path that was opened. */
  readonly path: string;
  /** The path of what was opened, as the volume has it. */
  readonly finalPath: string;
  readonly isDirectory: boolean;
  /** A link, a junction, a mount point, or something else that the system would follow or fetch. */
  readonly isReparsePoint: boolean;
  /** Owner and access list. */
  readonly sddl: string;
}

/**
 * Reads what is at a path; a link at its end is not followed.
 *
 * @throws WindowsError `notFound`, `accessDenied` and whatever else the system says.
 */
export function readFileFacts(path: string): FileFacts {
  const tried = `looked at ${quoteText(path)}`;
  const handle = files().CreateFileW(
    path,
    READ_CONTROL | FILE_READ_ATTRIBUTES,
    FILE_SHARE_ALL,
    null,
    OPEN_EXISTING,
    FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
    0,
  );
  check(handle !== INVALID_HANDLE_VALUE, 'CreateFileW', tried);
  const file = new OwnedHandle(handle);
  try {
    const { GetFileInformationByHandle, GetFinalPathNameByHandleW } = fileFacts();
    // BY_HANDLE_FILE_INFORMATION.
    const information = Buffer.alloc(52);
    const informed = GetFileInformationByHandle(file.value, information);
    check(informed !== 0, 'GetFileInformationByHandle', tried);
    const attributes = information.readUInt32LE(0);
    const name = Buffer.alloc(65_536);
    const length = GetFinalPathNameByHandleW(file.value, name, name.length / 2, 0);
    check(length > 0 && length < name.length / 2, 'GetFinalPathNameByHandleW', tried);
    return {
      path,
      finalPath: name.toString('utf16le', 0, length * 2),
      isDirectory: (attributes & FILE_ATTRIBUTE_DIRECTORY) !== 0,
      isReparsePoint: (attributes & FILE_ATTRIBUTE_REPARSE_POINT) !== 0,
      sddl: handleSecurity(file.value, tried),
    };
  } finally {
    file.close();
  }
}
