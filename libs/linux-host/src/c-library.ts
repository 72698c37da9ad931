import type koffiModule from 'koffi';
import { messageOf } from '@wins/base';
import { LinuxError } from './linux-error.js';

type Koffi = typeof koffiModule;

interface CLibrary {
  // https://man7.org/linux/man-pages/man2/getsockopt.2.html
  readonly getsockopt: (
    fd: number,
    level: number,
    name: number,
    value: Buffer,
    lengthBytes: [number],
  ) => number;
  // https://man7.org/linux/man-pages/man2/socket.2.html, sendto(2), close(2)
  readonly socket: (domain: number, type: number, protocol: number) => number;
  readonly sendto: (
    fd: number,
    message: Buffer,
    sizeBytes: number,
    flags: number,
    address: Buffer,
    addressBytes: number,
  ) => number;
  readonly close: (fd: number) => number;
  // https://man7.org/linux/man-pages/man2/pipe.2.html
  readonly pipe2: (ends: [number, number], flags: number) => number;
  // https://man7.org/linux/man-pages/man2/fcntl.2.html
  readonly fcntl: (fd: number, command: number, type: 'int', value: number) => number;
  // https://man7.org/linux/man-pages/man2/poll.2.html
  readonly poll: (entries: Buffer, count: number, timeoutMs: number) => number;
  readonly errno: () => number;
  // https://man7.org/linux/man-pages/man3/malloc_trim.3.html; GNU C library only
  readonly malloc_trim?: (keepBytes: number) => number;
}

/** @throws LinuxError `unavailable` on other systems, or when the addon cannot be loaded. */
export function loadCLibrary(): CLibrary {
  if (process.platform !== 'linux') {
    const found = `this is ${process.platform}, not linux`;
    throw new LinuxError('unavailable', `cannot call the C library: ${found}`);
  }
  try {
    // oxlint-disable-next-line typescript/no-require-imports -- at first use, never at import
    const koffi = require('koffi') as Koffi;
    const library = koffi.load(null);
    return {
      getsockopt: library.func(
        'int getsockopt(int fd, int level, int name, void *value, _Inout_ uint32_t *length)',
      ) as never,
      socket: library.func('int socket(int domain, int type, int protocol)') as never,
      sendto: library.func(
        'intptr_t sendto(int fd, const void *message, size_t size, int flags, const void *address, uint32_t length)',
      ) as never,
      close: library.func('int close(int fd)') as never,
      pipe2: library.func('int pipe2(_Out_ int *ends, int flags)') as never,
      fcntl: library.func('int fcntl(int fd, int command, ...)') as never,
      poll: library.func('int poll(void *entries, unsigned long count, int timeout)') as never,
      errno: () => koffi.errno(),
      ...mallocTrim(library),
    };
  } catch (cause) {
    const found = messageOf(cause).split('\n', 1)[0];
    const message = `cannot load the addon that calls the C library: ${found}; a bundle needs koffi beside it`;
    throw new LinuxError('unavailable', message, { cause });
  }
}

function mallocTrim(library: ReturnType<Koffi['load']>): Pick<CLibrary, 'malloc_trim'> {
  try {
    return { malloc_trim: library.func('int malloc_trim(size_t pad)') as never };
  } catch {
    return {};
  }
}

/**
 * Returns a function that gives freed memory back to the system, within a few milliseconds. Without it, the C library may
 * keep hundreds of megabytes of freed buffers. Undefined unless the C library is GNU's.
 *
 * @throws LinuxError as {@link loadCLibrary}.
 */
export function freeMemoryTrimmer(): (() => void) | undefined {
  const { malloc_trim: trim } = loadCLibrary();
  return trim && (() => void trim(0));
}
