import { NumberedFiles } from '@wins/files';
import { open } from 'node:fs/promises';

/** Returns the files `PREFIX.NUMBER.log`, oldest first. @throws any error of Node for a folder that cannot be read. */
export async function logFiles(folder: string, prefix: string): Promise<readonly string[]> {
  const files = new NumberedFiles({ folder, prefix, suffix: 'log', digits: 6 });
  return (await files.numbers()).map((number) => files.pathOf(number));
}

/** Returns the end of the joined files, at most `mostBytes`. */
export async function logTail(files: readonly string[], mostBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let leftBytes = mostBytes;
  for (const file of [...files].reverse()) {
    if (leftBytes <= 0) break;
    const bytes = await endOf(file, leftBytes);
    parts.unshift(bytes);
    leftBytes -= bytes.length;
  }
  return Buffer.concat(parts).toString();
}

async function endOf(name: string, mostBytes: number): Promise<Buffer> {
  await using file = await open(name, 'r');
  const { size } = await file.stat();
  const bytes = Buffer.alloc(Math.min(size, mostBytes));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
  return bytes.subarray(0, bytesRead);
}
