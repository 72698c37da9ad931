import { closeSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';

// One for all reads, which are synchronous: a scan reads hundreds of files, and Node would allocate
// 64 KiB for each because their size is not known.
const SCRATCH = Buffer.allocUnsafeSlow(64 * 1024);
/** More than the kernel lets the environment of a process hold in practice; what follows is not read. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads a file of `/proc`, each byte as one character.
 *
 * @throws what Node throws when it cannot be read, `ENOENT` or `ESRCH` when the process has ended.
 */
export function readProcFile(path: string): string {
  const descriptor = openSync(path, 'r');
  try {
    let text = '';
    while (text.length < MAX_BYTES) {
      const length = readSync(descriptor, SCRATCH);
      if (length === 0) break;
      text += SCRATCH.toString('latin1', 0, length);
    }
    return text;
  } finally {
    closeSync(descriptor);
  }
}

const AT_PAGESZ = 6n;
const MOST_COMMON = 4096;

/**
 * How large a page of memory is, in bytes: 4,096 nearly everywhere, and up to 64 KiB on arm64. `/proc` counts in these, and
 * Node does not tell. Source: the auxiliary vector, https://man7.org/linux/man-pages/man3/getauxval.3.html
 */
export function pageBytes(): number {
  let vector: Buffer;
  try {
    vector = Buffer.from(readProcFile('/proc/self/auxv'), 'latin1');
  } catch {
    return MOST_COMMON;
  }
  const read = (at: number): bigint =>
    endianness() === 'LE' ? vector.readBigUInt64LE(at) : vector.readBigUInt64BE(at);
  for (let at = 0; at + 16 <= vector.length; at += 16) {
    if (read(at) === AT_PAGESZ) return Number(read(at + 8));
  }
  return MOST_COMMON;
}
