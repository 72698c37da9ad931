import type { Handle } from './kernel32.js';
import type { Overlapped } from './calls/overlapped.js';
import { lazily, loadSystemLibrary } from './calls/system-library.js';

export const PIPE_ACCESS_DUPLEX = 3;
/** The name must be new. */
export const FILE_FLAG_FIRST_PIPE_INSTANCE = 0x0008_0000;
/** Bytes both as type and as read mode, and calls that wait, are zero. */
export const PIPE_REJECT_REMOTE_CLIENTS = 8;
export const PIPE_UNLIMITED_INSTANCES = 255;

/** Named pipes, from both ends. */
export const namedPipes = lazily(() => {
  const { bind } = loadSystemLibrary('kernel32.dll');
  return {
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-createnamedpipew
    CreateNamedPipeW: bind<
      (
        name: string,
        openMode: number,
        pipeMode: number,
        maxInstances: number,
        outBufferBytes: number,
        inBufferBytes: number,
        defaultTimeoutMs: number,
        attributes: Buffer,
      ) => Handle
    >(
      'intptr_t __stdcall CreateNamedPipeW(str16 name, uint32_t openMode, uint32_t pipeMode, uint32_t maxInstances, uint32_t outBuffer, uint32_t inBuffer, uint32_t defaultTimeout, void *attributes)',
    ),
    // https://learn.microsoft.com/windows/win32/api/namedpipeapi/nf-namedpipeapi-connectnamedpipe
    ConnectNamedPipe: bind<(pipe: Handle, overlapped: Overlapped) => number>(
      'int __stdcall ConnectNamedPipe(intptr_t pipe, void *overlapped)',
    ),
    // https://learn.microsoft.com/windows/win32/api/namedpipeapi/nf-namedpipeapi-waitnamedpipew
    WaitNamedPipeW: bind<(name: string, timeoutMs: number) => number>(
      'int __stdcall WaitNamedPipeW(str16 name, uint32_t timeout)',
    ),
    // https://learn.microsoft.com/windows/win32/api/namedpipeapi/nf-namedpipeapi-disconnectnamedpipe
    DisconnectNamedPipe: bind<(pipe: Handle) => number>(
      'int __stdcall DisconnectNamedPipe(intptr_t pipe)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getnamedpipeclientprocessid
    GetNamedPipeClientProcessId: bind<(pipe: Handle, outProcessId: [number]) => number>(
      'int __stdcall GetNamedPipeClientProcessId(intptr_t pipe, _Out_ uint32_t *processId)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getnamedpipeclientsessionid
    GetNamedPipeClientSessionId: bind<(pipe: Handle, outSession: [number]) => number>(
      'int __stdcall GetNamedPipeClientSessionId(intptr_t pipe, _Out_ uint32_t *session)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getnamedpipeserverprocessid
    GetNamedPipeServerProcessId: bind<(pipe: Handle, outProcessId: [number]) => number>(
      'int __stdcall GetNamedPipeServerProcessId(intptr_t pipe, _Out_ uint32_t *processId)',
    ),
  };
});
