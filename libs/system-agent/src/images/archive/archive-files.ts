import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { errnoOf } from '@wins/wins-program';

const ENDINGS = ['.tar', '.tar.lz4', '.tar.bz2', '.tbz', '.tar.gz', '.tgz', '.tar.zst', '.tzst'];

/** The archives in the folder, by name; none when there is no folder. */
export async function archiveFiles(folder: string): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
  return names
    .filter((name) => ENDINGS.some((ending) => name.endsWith(ending)))
    .sort()
    .map((name) => path.join(folder, name));
}
