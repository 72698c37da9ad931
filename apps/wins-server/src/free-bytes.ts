import { errnoOf } from '@wins/base';
import { statfs } from 'node:fs/promises';
import path from 'node:path';

/** Free bytes of the disk of a folder, or of the nearest one above it that exists. */
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
