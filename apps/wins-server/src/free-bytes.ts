import { errnoOf } from '@wins/base';
import { statfs } from 'node:fs/promises';
import path from 'node:path';

/** Size of a disk. What is free is free for this user. */
export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Returns the size of the disk of a folder, or of its nearest existing parent. */
export async function diskSpace(folder: string): Promise<DiskSpace> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch (error) {
    const above = path.dirname(folder);
    if (errnoOf(error) !== 'ENOENT' || above === folder) throw error;
    return diskSpace(above);
  }
}

/** Returns the free bytes on the disk of a folder, or of its nearest existing parent. */
export async function freeBytes(folder: string): Promise<number> {
  return (await diskSpace(folder)).freeBytes;
}
