import { errnoOf } from '@wins/base';
import { statfs } from 'node:fs/promises';
import path from 'node:path';

/** Returns the free bytes on the disk of a folder, or of its nearest existing parent. */
export async function freeBytes(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const above = path.dirname(folder);
    if (errnoOf(error) !== 'ENOENT' || above === folder) throw error;
    return freeBytes(above);
  }
}
