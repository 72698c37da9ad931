import { NumberedFiles } from '@wins/files';
import { open } from 'node:fs/promises';

/** Returns the files `PREFIX.NUMBER.log`, oldest first. @throws any error of Node for a folder that cannot be read. */
export async function logFiles(folder: string, prefix: string): Promise<readonly string[]> {
  const files = new NumberedFiles({ folder, prefix, suffix: 'log', digits: 6 });
  return (await files.numbers()).map((number) => files.pathOf(number));
}

export interface LogTail {
  /** Begins with a whole line. May end with a part of one. */
  readonly bytes: Buffer;
  /** True if older lines were left out. */
  readonly isCut: boolean;
  /** Size of the newest file when it was read. */
  readonly newestBytes: number;
}

/** Returns the end of the joined files, at most `mostBytes`. */
export async function logTail(files: readonly string[], mostBytes: number): Promise<LogTail> {
  const parts: Buffer[] = [];
  let [leftBytes, newestBytes, isCut] = [mostBytes, 0, false];
  for (const name of [...files].reverse()) {
    const { bytes, size } = await endOf(name, leftBytes);
    if (parts.length === 0) newestBytes = size;
    leftBytes -= bytes.length;
    isCut = bytes.length < size;
    // A part of a line could end a secret that a cleaner of texts no longer recognizes.
    parts.unshift(isCut ? bytes.subarray(bytes.indexOf('\n') + 1) : bytes);
    if (isCut) break;
  }
  return { bytes: Buffer.concat(parts), isCut, newestBytes };
}

async function endOf(name: string, mostBytes: number): Promise<{ bytes: Buffer; size: number }> {
  await using file = await open(name, 'r');
  const { size } = await file.stat();
  const bytes = Buffer.alloc(Math.min(size, mostBytes));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
  return { bytes: bytes.subarray(0, bytesRead), size };
}
