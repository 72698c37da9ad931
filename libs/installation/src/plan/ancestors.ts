import path from 'node:path';
import type { Item } from '../item/item.js';

/** From the top, without the root. */
export function ancestorsOf(place: string, platform: NodeJS.Platform): readonly string[] {
  const folder = folderOf(place, platform);
  return folder === folderOf(folder, platform) ? [] : [...ancestorsOf(folder, platform), folder];
}

export function folderOf(place: string, platform: NodeJS.Platform): string {
  return (platform === 'win32' ? path.win32 : path.posix).dirname(place);
}

/** Undefined for other items. */
export function folderOfItem(item: Item, platform: NodeJS.Platform): string | undefined {
  const isPlace = item.kind === 'file' || item.kind === 'folder' || item.kind === 'program';
  return isPlace ? folderOf(item.path, platform) : undefined;
}
