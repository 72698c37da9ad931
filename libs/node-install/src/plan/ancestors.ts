import path from 'node:path';

/** The folders above a path, from the top, without the root. */
export function ancestorsOf(place: string, platform: NodeJS.Platform): readonly string[] {
  const found: string[] = [];
  for (
    let at = folderOf(place, platform);
    at !== folderOf(at, platform);
    at = folderOf(at, platform)
  )
    found.unshift(at);
  return found;
}

/** The folder that a path is in. */
export function folderOf(place: string, platform: NodeJS.Platform): string {
  return (platform === 'win32' ? path.win32 : path.posix).dirname(place);
}
