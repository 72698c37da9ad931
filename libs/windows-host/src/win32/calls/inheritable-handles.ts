import type { Handle } from '../kernel32.js';
import { lazily, loadSystemLibrary } from './system-library.js';

/** Opening what a child shall inherit: with SECURITY_ATTRIBUTES. */
export const inheritableHandles = lazily(() => {
  const { bind } = loadSystemLibrary('kernel32.dll');
  return {
    // https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createfilew
    CreateFileW: bind<
      (
        name: string,
        access: number,
        share: number,
        security: Buffer,
        disposition: number,
        flags: number,
        template: Handle,
      ) => Handle
    >(
      'intptr_t __stdcall CreateFileW(str16 name, uint32_t access, uint32_t share, void *security, uint32_t disposition, uint32_t flags, intptr_t template)',
    ),
  };
});
