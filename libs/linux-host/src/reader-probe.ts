import { fstatSync } from 'node:fs';
import { loadCLibrary } from './c-library.js';
import { LinuxError } from './linux-error.js';

// Constants and `struct pollfd` of poll(2).
const POLLERR = 0x008;
const POLLHUP = 0x010;
const ENTRY_BYTES = 8;
const RETURNED_AT = 6;

/**
 * Returns a function that tells, without a write, whether all readers of a pipe or socket have gone. Undefined for another
 * file, and where the system cannot tell.
 *
 * @param fd - The writing end.
 */
export function readerProbe(fd: number): (() => boolean) | undefined {
  const stats = fstatSync(fd);
  if (!stats.isFIFO() && !stats.isSocket()) return undefined;
  try {
    const { poll } = loadCLibrary();
    return () => {
      const entry = Buffer.alloc(ENTRY_BYTES);
      entry.writeInt32LE(fd);
      if (poll(entry, 1, 0) <= 0) return false;
      return (entry.readUInt16LE(RETURNED_AT) & (POLLERR | POLLHUP)) !== 0;
    };
  } catch (error) {
    if (error instanceof LinuxError) return undefined;
    throw error;
  }
}
