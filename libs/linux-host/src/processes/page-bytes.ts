import { endianness } from 'node:os';

import { readProcFile } from './read-proc-file.js';

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
