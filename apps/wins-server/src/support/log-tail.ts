import { open, readdir } from 'node:fs/promises';
import path from 'node:path';

const NUMBER = /^\.(\d{6,9})\.log$/;

/**
 * The newest lines of a log in files `NAME.NUMBER.log`, the oldest first. What else is in the folder is not read.
 *
 * @param mostBytes - As many bytes are read at most, of the newest files.
 * @throws what Node throws for a folder that cannot be read.
 */
export async function logTail(folder: string, log: string, mostBytes: number): Promise<string> {
  const numbered = (await readdir(folder)).flatMap((name) => {
    const number = name.startsWith(log) ? NUMBER.exec(name.slice(log.length))?.[1] : undefined;
    return number === undefined ? [] : [{ name, number: Number(number) }];
  });
  const parts: Buffer[] = [];
  let leftBytes = mostBytes;
  for (const { name } of numbered.sort((one, other) => other.number - one.number)) {
    if (leftBytes <= 0) break;
    const bytes = await endOf(path.join(folder, name), leftBytes);
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
