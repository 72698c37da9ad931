import { OTHER } from '@wins/metrics';

/** Paths that are remembered; a config that was changed very often begins anew. */
const MOST_PATHS = 4096;

/**
 * Gives the file name of a program that is listed, or was: a run may outlive its entry. Any other path is `other`, since a client may choose it.
 */
export function entryNames(listed: () => readonly string[]): (path: string) => string {
  let known: readonly string[] = [];
  const names = new Map<string, string>();
  return (path) => {
    const now = listed();
    if (now !== known) {
      known = now;
      if (names.size > MOST_PATHS) names.clear();
      for (const each of now) names.set(each, fileNameOf(each));
    }
    return names.get(path) ?? OTHER;
  };
}

/** Of either system: a config may be written for the other one. */
function fileNameOf(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? OTHER;
}
