import type { Handle } from './kernel32.js';
import { lazily, loadSystemLibrary } from './calls/system-library.js';

export const FILE_ATTRIBUTE_DIRECTORY = 0x10;
export const FILE_ATTRIBUTE_REPARSE_POINT = 0x400;
/** A link is opened itself, not what it points to. */
export const FILE_FLAG_OPEN_REPARSE_POINT = 0x20_0000;
export const FILE_READ_ATTRIBUTES = 0x80;
export const FILE_SHARE_READ = 0x1;
export const GENERIC_READ = 0x8000_0000;
export const GENERIC_WRITE = 0x4000_0000;

/** What the system says of an open file, and making folders. */
export const fileFacts = lazily(() => {
  const { bind } = loadSystemLibrary('kernel32.dll');
  return {
    // https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-getfileinformationbyhandle
    GetFileInformationByHandle: bind<(file: Handle, information: Buffer) => number>(
      'int __stdcall GetFileInformationByHandle(intptr_t file, void *information)',
    ),
    // https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-getfinalpathnamebyhandlew
    GetFinalPathNameByHandleW: bind<
      (file: Handle, path: Buffer, characters: number, flags: number) => number
    >(
      'uint32_t __stdcall GetFinalPathNameByHandleW(intptr_t file, void *path, uint32_t characters, uint32_t flags)',
    ),
    // https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createdirectoryw
    CreateDirectoryW: bind<(path: string, security: Buffer) => number>(
      'int __stdcall CreateDirectoryW(str16 path, void *security)',
    ),
  };
});
