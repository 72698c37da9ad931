import path from 'node:path';

import type { Handle } from './kernel32.js';
import { lazily, loadKoffi, loadSystemLibrary } from './system-library.js';

export const PIPE_ACCESS_INBOUND = 0x1;
export const FILE_FLAG_FIRST_PIPE_INSTANCE = 0x8_0000;
export const PIPE_REJECT_REMOTE_CLIENTS = 0x8;
/** No identity goes with the connection. */
export const SECURITY_SQOS_PRESENT_ANONYMOUS = 0x10_0000;

/** Handles that a child gets, and the pipes behind them. */
export const childHandles = lazily(() => {
  const { bind } = loadSystemLibrary('kernel32.dll');
  return {
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-createnamedpipew
    CreateNamedPipeW: bind<
      (
        name: string,
        openMode: number,
        pipeMode: number,
        maxInstances: number,
        outBytes: number,
        inBytes: number,
        timeoutMs: number,
        security: Buffer,
      ) => Handle
    >(
      'intptr_t __stdcall CreateNamedPipeW(str16 name, uint32_t openMode, uint32_t pipeMode, uint32_t maxInstances, uint32_t outSize, uint32_t inSize, uint32_t timeout, void *security)',
    ),
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

/** What Node's own program exports of its event loop: a file descriptor of a HANDLE, by its own C runtime. */
export const nodeExports = lazily(() => {
  const library = loadKoffi().load(path.win32.normalize(process.execPath));
  return {
    // https://docs.libuv.org/en/v1.x/fs.html#c.uv_open_osfhandle
    uv_open_osfhandle: library.func('int uv_open_osfhandle(intptr_t handle)') as (
      handle: Handle,
    ) => number,
  };
});
