import path from 'node:path';
import { errnoOf, quoteText } from '@wins/wins-program';
import { readFolder } from '../../read-folder.js';
import { imageFailed } from '../image-failure.js';

const ENDINGS = ['.tar', '.tar.lz4', '.tar.bz2', '.tbz', '.tar.gz', '.tgz', '.tar.zst', '.tzst'];

/** More is no folder of images: each is opened, and a warning where it cannot be used. */
const MAX_ENTRIES = 1000;

/** The archives in the folder, by name; none when there is no folder. @throws AgentError `imageFailed`, what Node throws. */
export async function archiveFiles(folder: string): Promise<string[]> {
  let names: string[];
  try {
    names = (await readFolder(folder, MAX_ENTRIES + 1)).map(({ name }) => name);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
  if (names.length > MAX_ENTRIES)
    throw imageFailed(`look into ${quoteText(folder)}`, 'more files', `at most ${MAX_ENTRIES}`);
  return names
    .filter((name) => ENDINGS.some((ending) => name.endsWith(ending)))
    .map((name) => path.join(folder, name));
}
