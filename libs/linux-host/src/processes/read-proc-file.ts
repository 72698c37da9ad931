import { closeSync, openSync, readSync } from 'node:fs';

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
