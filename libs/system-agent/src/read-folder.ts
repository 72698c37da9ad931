import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';

/** Returns at most `maxEntries`, because others may have filled the folder. @throws errors of Node. */
export async function readFolder(folder: string, maxEntries: number): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(folder)) {
    if (entries.length === maxEntries) break;
    entries.push(entry);
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
