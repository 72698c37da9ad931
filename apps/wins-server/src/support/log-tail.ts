import { NumberedFiles } from '@wins/files';
import { open } from 'node:fs/promises';

/**
 * The newest lines of a log in files `NAME.NUMBER.log`, the oldest first. What else is in the folder is not read.
 *
 * @param mostBytes - As many bytes are read at most, of the newest files.
 * @throws what Node throws for a folder that cannot be read.
 */
export async function logTail(folder: string, prefix: string, mostBytes: number): Promise<string> {
  const files = new NumberedFiles({ folder, prefix, suffix: 'log', digits: 6 });
  const parts: Buffer[] = [];
  let leftBytes = mostBytes;
  for (const number of [...(await files.numbers())].reverse()) {
    if (leftBytes <= 0) break;
    const bytes = await endOf(files.pathOf(number), leftBytes);
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
