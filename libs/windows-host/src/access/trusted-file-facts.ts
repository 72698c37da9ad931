import { quoteText } from '@wins/wins-program';
import { handleSecurity } from './file-security.js';
import { call } from '../win32/calls/call.js';
import { openFile } from '../win32/files.js';
import {
  FILE_FLAG_BACKUP_SEMANTICS,
  FILE_FLAG_OPEN_REPARSE_POINT,
  FILE_READ_ATTRIBUTES,
  kernel32,
  READ_CONTROL,
} from '../win32/kernel32.js';
import { BY_HANDLE_FILE_INFORMATION } from '../win32/structures.js';
import { systemError } from '../windows-error.js';

const FILE_ATTRIBUTE_DIRECTORY = 0x10;
const FILE_ATTRIBUTE_REPARSE_POINT = 0x400;
/** More than any path. */
const PATH_CHARACTERS = 32_768;
const ERROR_INSUFFICIENT_BUFFER = 122;

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
  using file = openFile(tried, path, {
    access: READ_CONTROL | FILE_READ_ATTRIBUTES,
    flags: FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
  });
  const { GetFileInformationByHandle, GetFinalPathNameByHandleW } = kernel32;
  const information = BY_HANDLE_FILE_INFORMATION.create({});
  call(tried, GetFileInformationByHandle, file.value, information);
  const { dwFileAttributes } = BY_HANDLE_FILE_INFORMATION.read(information);
  const name = Buffer.alloc(PATH_CHARACTERS * 2);
  const length = call(tried, GetFinalPathNameByHandleW, file.value, name, PATH_CHARACTERS, 0);
  if (length >= PATH_CHARACTERS) {
    const functionName = GetFinalPathNameByHandleW.name;
    throw systemError(tried, { functionName, errorNumber: ERROR_INSUFFICIENT_BUFFER });
  }
  return {
    path,
    finalPath: name.toString('utf16le', 0, length * 2),
    isDirectory: (dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) !== 0,
    isReparsePoint: (dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) !== 0,
    sddl: handleSecurity(file.value, tried),
  };
}
