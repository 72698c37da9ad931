import { closeSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';

// One buffer for all synchronous reads of a scan: Node would allocate 64 KiB for each file, as it does not know the size.
const SCRATCH = Buffer.allocUnsafeSlow(64 * 1024);
/** Exceeds the environment of any process in practice. Further bytes are not read. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Each byte becomes one character. @throws as Node; `ENOENT` or `ESRCH` for an ended process. */
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
 * Returns 4,096 nearly everywhere, and up to 64 KiB on arm64. Source: the auxiliary vector,
 * https://man7.org/linux/man-pages/man3/getauxval.3.html
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
