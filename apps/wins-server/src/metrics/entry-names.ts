import { OTHER } from '@wins/metrics';

/** Gives the file name of a program that is listed, and `other` for any other path: those a client may choose. */
export function entryNames(listed: () => readonly string[]): (path: string) => string {
  let known: readonly string[] = [];
  let names = new Map<string, string>();
  return (path) => {
    const now = listed();
    if (now !== known) {
      known = now;
      names = new Map(now.map((each) => [each, fileNameOf(each)]));
    }
    return names.get(path) ?? OTHER;
  };
}

/** Of either system: a config may be written for the other one. */
function fileNameOf(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? OTHER;
}
