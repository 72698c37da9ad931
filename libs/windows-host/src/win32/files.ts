import type { Handle } from './kernel32.js';
import { lazily, loadSystemLibrary } from './calls/system-library.js';

export const READ_CONTROL = 0x2_0000;
/** To read from a pipe and write to it, without FILE_CREATE_PIPE_INSTANCE: GENERIC_WRITE would ask for the right to serve it. */
export const PIPE_READ_AND_WRITE = 0x12_019b;
export const FILE_SHARE_ALL = 7;
export const CREATE_NEW = 1;
export const OPEN_EXISTING = 3;
export const GENERIC_WRITE = 0x4000_0000;
export const FILE_FLAG_OVERLAPPED = 0x4000_0000;
export const MOVEFILE_DELAY_UNTIL_REBOOT = 4;
/** Without it, folders cannot be opened. */
export const FILE_FLAG_BACKUP_SEMANTICS = 0x0200_0000;
/**
 * To open a pipe: alone its server does not learn who its client is; with SECURITY_IDENTIFICATION it does, and cannot act in the
 * client's name. Without both it can.
 */
export const SECURITY_SQOS_PRESENT = 0x0010_0000;
export const SECURITY_IDENTIFICATION = 0x0001_0000;

/** Opening files, and pipes as their client. */
export const files = lazily(() => {
  const { bind } = loadSystemLibrary('kernel32.dll');
  return {
    // https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createfilew
    CreateFileW: bind<
      (
        name: string,
        access: number,
        share: number,
        security: Buffer | null,
        disposition: number,
        flags: number,
        template: Handle,
      ) => Handle
    >(
      'intptr_t __stdcall CreateFileW(str16 name, uint32_t access, uint32_t share, void *security, uint32_t disposition, uint32_t flags, intptr_t template)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-movefileexw
    MoveFileExW: bind<(from: string, to: string | null, flags: number) => number>(
      'int __stdcall MoveFileExW(str16 from, str16 to, uint32_t flags)',
    ),
  };
});
