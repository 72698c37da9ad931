import { open, readdir } from 'node:fs/promises';
import path from 'node:path';

const FILE = /\.log$/;

/**
 * The newest lines of the log files of a folder, the oldest first.
 *
 * @param mostBytes - As many bytes are read at most, of the newest files.
 * @throws what Node throws for a folder that cannot be read.
 */
export async function logTail(folder: string, mostBytes: number): Promise<string> {
  const names = (await readdir(folder)).filter((name) => FILE.test(name));
  const numbered = names.map((name) => ({ name, number: Number(/\d+/.exec(name)?.[0] ?? 0) }));
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
