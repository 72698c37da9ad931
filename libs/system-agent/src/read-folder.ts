import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';

/**
 * Returns the entries of a folder, at most `maxEntries` of them in any order, because others may have filled it.
 *
 * @throws what Node throws.
 */
export async function readFolder(folder: string, maxEntries: number): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  // Leaving the loop closes it.
  for await (const entry of await opendir(folder)) {
    if (entries.length === maxEntries) break;
    entries.push(entry);
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
