import type { Handle } from '../kernel32.js';
import { lazily, loadSystemLibrary } from './system-library.js';

/** The address of an OVERLAPPED, which must not move while its operation is under way. */
export type Overlapped = bigint;

/** Operations that end later. */
export const overlappedCalls = lazily(() => {
  const { bind, koffi } = loadSystemLibrary('kernel32.dll');
  // https://learn.microsoft.com/windows/win32/api/minwinbase/ns-minwinbase-overlapped
  const type = koffi.struct({
    Internal: 'uint64_t',
    InternalHigh: 'uint64_t',
    Offset: 'uint32_t',
    OffsetHigh: 'uint32_t',
    hEvent: 'intptr_t',
  });
  return {
    /** An OVERLAPPED of its own memory; `freeOverlapped` gives it back. */
    newOverlapped: (event: Handle): Overlapped => {
      const memory = koffi.alloc(type, 1) as Overlapped;
      koffi.encode(memory, type, {
        Internal: 0,
        InternalHigh: 0,
        Offset: 0,
        OffsetHigh: 0,
        hEvent: event,
      });
      return memory;
    },
    freeOverlapped: (overlapped: Overlapped): void => koffi.free(overlapped),
    // https://learn.microsoft.com/windows/win32/api/ioapiset/nf-ioapiset-getoverlappedresult
    GetOverlappedResult: bind<
      (handle: Handle, overlapped: Overlapped, outBytes: [number], wait: number) => number
    >(
      'int __stdcall GetOverlappedResult(intptr_t handle, void *overlapped, _Out_ uint32_t *bytes, int wait)',
    ),
    // https://learn.microsoft.com/windows/win32/api/ioapiset/nf-ioapiset-cancelioex
    CancelIoEx: bind<(handle: Handle, overlapped: Overlapped) => number>(
      'int __stdcall CancelIoEx(intptr_t handle, void *overlapped)',
    ),
  };
});
