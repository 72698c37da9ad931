import { quoteText, foldAscii, type CanonicalPath } from '@wins/base';
import { handleSecurity } from './file-security.js';
import { call, openFile } from '../win32/calls/call.js';
import * as win32 from '../win32/kernel32.js';
import { BY_HANDLE_FILE_INFORMATION } from '../win32/structures.js';
import { systemError } from '../windows-error.js';
import type { Distrust, TrustRule } from '@wins/trusted-files';
import { whoMayReplace, whoMayWrite } from './who-may-write.js';

const FILE_ATTRIBUTE_DIRECTORY = 0x10;
const FILE_ATTRIBUTE_REPARSE_POINT = 0x400;
const PATH_CHARACTERS = 32_768; // more than any path
const ERROR_INSUFFICIENT_BUFFER = 122;

export interface FileFacts {
  readonly path: string;
  /** The canonical path of the opened file, as the volume reports it. */
  readonly finalPath: string;
  readonly isDirectory: boolean;
  /** True for a link, a junction, a mount point, or another object that the system would follow or fetch. */
  readonly isReparsePoint: boolean;
  readonly sddl: string;
}

/** Does not follow a link at the end of the path. */
export function readFileFacts(path: string): FileFacts {
  const tried = `cannot examine ${quoteText(path)}`;
  using file = openFile(tried, path, {
    access: win32.READ_CONTROL | win32.FILE_READ_ATTRIBUTES,
    flags: win32.FILE_FLAG_BACKUP_SEMANTICS | win32.FILE_FLAG_OPEN_REPARSE_POINT,
  });
  const { GetFileInformationByHandle, GetFinalPathNameByHandleW } = win32.kernel32;
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

/** `C:\a\b.exe` becomes `C:\`, `C:\a`, `C:\a\b.exe`. */
export function stepsTo(path: CanonicalPath): readonly string[] {
  const steps = [path.slice(0, 3)];
  for (let at = path.indexOf('\\', 3); at !== -1; at = path.indexOf('\\', at + 1)) {
    steps.push(path.slice(0, at));
  }
  return path.length > 3 ? [...steps, path] : steps;
}

/**
 * Judges one step of a path: an ancestor, the folder of the file, or the file. The step must not be a link. No
 * untrusted account may be able to change the file or its folder, or to replace an entry of an ancestor.
 * `trusted` lists further trusted SIDs.
 */
export function judgeStep(
  facts: FileFacts,
  wanted: 'ancestor' | 'folder' | 'file',
  trusted: readonly string[],
): Distrust | undefined {
  const { path, finalPath, sddl } = facts;
  const distrust = (rule: TrustRule, found: string): Distrust => ({ rule, path, found });
  if (facts.isReparsePoint) return distrust('A7 link or junction', 'it is a link or a junction');
  const shown = finalPath.startsWith('\\\\?\\') ? finalPath.slice(4) : finalPath;
  // Both paths have single separators and a drive letter, so they are the same path if they differ only in ASCII case.
  if (foldAscii(shown) !== foldAscii(path)) {
    return distrust('A7 another path', `it opens ${quoteText(shown)}`);
  }
  if (facts.isDirectory === (wanted === 'file')) {
    const found = facts.isDirectory ? 'it is a folder' : 'it is not a folder';
    return distrust('A7 not a regular file', found);
  }
  const who = (wanted === 'ancestor' ? whoMayReplace : whoMayWrite)(sddl, trusted);
  if (who.length === 0) return undefined;
  return distrust('A7 writable by other users', `${who.join(', ')} can change it`);
}

/**
 * Remedies for a folder that others can change; empty when nobody else can. There are two, because only the reader
 * knows whether the others are administrators.
 */
export function privateFolderMending(folder: string, sddl: string, account: string): string {
  const others = whoMayWrite(sddl, [account]);
  if (others.length === 0) return '';
  const icacls = `icacls "${folder}"`;
  const names = others.map((sid) => `*${sid}`).join(' ');
  return `if that is an administrator, ${icacls} /setowner *S-1-5-32-544 and ${icacls} /remove ${names} fix it; if not, remove the folder`;
}
