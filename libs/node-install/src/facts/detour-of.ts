import { errnoOf } from '@wins/wins-program';
import { realpath } from 'node:fs/promises';

/** Where a folder is in truth, when a link or junction on the way leads elsewhere; undefined when none does, or there is no such folder. */
export async function detourOf(
  folder: string,
  platform: NodeJS.Platform,
): Promise<string | undefined> {
  const plain = (place: string): string => (platform === 'win32' ? place.toLowerCase() : place);
  try {
    const found = await realpath(folder);
    return plain(found) === plain(folder) ? undefined : found;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}
