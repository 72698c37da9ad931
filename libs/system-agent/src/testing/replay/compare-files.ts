import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { Recording } from './recording.js';

/** A file or folder as it can be compared: names that are times are replaced, contents shown for those that are the same each time. */
export type ComparedFiles = readonly (readonly [string, string])[];

const ROOMS = ['applied', 'files', 'plans'];

/** What the original left in its history, the files of plans and the folder of local plans. */
export function recordedFiles({ filesAtEnd }: Recording): ComparedFiles {
  return compared(
    filesAtEnd
      .filter((entry) => entry.exists !== false && ROOMS.includes(entry.path.split('/')[0] ?? ''))
      .map(({ path: name, type, mode, content }) => [
        name,
        Number(mode ?? 0),
        type === 'dir' ? undefined : bytesOf(content),
      ]),
  );
}

/** What our agent left there. */
export function playedFiles(folder: string): ComparedFiles {
  const found: [string, number, Buffer | undefined][] = [];
  const look = (name: string): void => {
    const stats = lstatSync(path.join(folder, name), { throwIfNoEntry: false });
    if (!stats) return;
    const isFolder = stats.isDirectory();
    found.push([
      name,
      stats.mode & 0o7777,
      isFolder ? undefined : readFileSync(path.join(folder, name)),
    ]);
    if (isFolder)
      for (const child of readdirSync(path.join(folder, name))) look(`${name}/${child}`);
  };
  for (const room of ROOMS) look(room);
  return compared(found);
}

function compared(files: readonly [string, number, Buffer | undefined][]): ComparedFiles {
  return files
    .map(([name, mode, content]): [string, string] => {
      const rights = mode.toString(8).padStart(4, '0');
      if (!content) return [name, `folder ${rights}`];
      // Outputs in it have times of their own.
      const shown = name.endsWith('.pos') ? '.pos' : content.toString('base64');
      return [name, `file ${rights} ${shown}`];
    })
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, what]) => [name.replace(/\d{8}-\d{6}/, 'DATECODE'), what]);
}

function bytesOf(content: string | { readonly base64: string } | undefined): Buffer {
  return typeof content === 'object'
    ? Buffer.from(content.base64, 'base64')
    : Buffer.from(content ?? '');
}
