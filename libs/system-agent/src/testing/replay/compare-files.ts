import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { Recording } from './recording.js';

/** Pairs of name and description, without times. */
export type ComparedFiles = readonly (readonly [string, string])[];

/** Maps a folder of the recordings to the folder that `playedFiles` reads. */
const FOLDERS: Readonly<Record<string, string>> = {
  applied: 'applied',
  files: 'files',
  plans: 'plans',
  work: 'execution',
};
/**
 * Working directories of instructions, and the folders above them. They are not compared. In this agent, unlike in the Go agent,
 * they are private and are removed after each pass. Those of periodic instructions also have other names.
 */
const FOLDERS_OF_INSTRUCTIONS = /^work(?:\/[^/]+){0,2}$/;

export function recordedFiles({ filesAtEnd }: Recording): ComparedFiles {
  return compared(
    filesAtEnd
      .filter((entry) => entry.exists !== false && (entry.path.split('/')[0] ?? '') in FOLDERS)
      .map(({ path: name, type, mode, content }) => [
        name,
        Number(mode ?? 0),
        type === 'dir' ? undefined : bytesOf(content),
      ]),
  );
}

export function playedFiles(folder: string): ComparedFiles {
  const found: [string, number, Buffer | undefined][] = [];
  const look = (location: string, name: string): void => {
    const stats = lstatSync(location, { throwIfNoEntry: false });
    if (!stats) return;
    const mode = stats.mode & 0o7777;
    if (stats.isDirectory()) {
      found.push([name, mode, undefined]);
      for (const child of readdirSync(location))
        look(path.join(location, child), `${name}/${child}`);
    } else {
      // The recordings do not contain the targets of links.
      const isLink = stats.isSymbolicLink();
      found.push([name, mode, isLink ? Buffer.of() : readFileSync(location)]);
    }
  };
  for (const [recorded, played] of Object.entries(FOLDERS))
    look(path.join(folder, played), recorded);
  return compared(found);
}

function compared(files: readonly [string, number, Buffer | undefined][]): ComparedFiles {
  return files
    .filter(([name]) => !FOLDERS_OF_INSTRUCTIONS.test(name))
    .map(([name, mode, content]): [string, string] => {
      const rights = mode.toString(8).padStart(4, '0');
      if (!content) return [name, `folder ${rights}`];
      // Omit the whole content of a `.pos` file, because the outputs in it contain times.
      const shown = name.endsWith('.pos') ? '.pos' : content.toString('base64');
      return [name, `file ${rights} ${shown}`];
    })
    .map(([name, what]): [string, string] => [name.replace(/\d{8}-\d{6}/, 'DATECODE'), what])
    .sort(([a, one], [b, other]) => (`${a} ${one}` < `${b} ${other}` ? -1 : 1))
    .filter(([name, what], index, all) => {
      // Omit repetitions: when two local plans alternate, the Go agent adds a plan to its history at each check.
      const [before, content] = all[index - 1] ?? [];
      return !(name.startsWith('applied/') && before === name && content === what);
    });
}

function bytesOf(content: string | { readonly base64: string } | undefined): Buffer {
  return typeof content === 'object'
    ? Buffer.from(content.base64, 'base64')
    : Buffer.from(content ?? '');
}
