import { errnoOf } from '@wins/base';
import { copyPendingFile, hashFile, syncFolder } from '@wins/trusted-files';
import { chmod, chown, lstat, mkdir, readdir, rm, rmdir, unlink } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import path from 'node:path';
import type { ItemStore } from '../ports.js';
import type { Around } from '../install-context.js';

const FOLDER_MODES: Readonly<Record<string, number>> = { private: 0o700, readable: 0o755 };
const FILE_MODES: Readonly<Record<string, number>> = {
  private: 0o600,
  readable: 0o644,
  executable: 0o755,
};
const MAX_STRANGERS = 100;
const MAX_BYTES = 512 * 1024 * 1024;

export function posixFolders(around: Around): ItemStore<'folder'> {
  return {
    read: async ({ path: folder }) => {
      const stats = await look(folder);
      if (stats === undefined) return undefined;
      if (!stats.isDirectory()) return { access: 'no folder' };
      return { access: accessOf(stats, FOLDER_MODES) };
    },
    write: async ({ path: folder, isData }, state) => {
      const there = await look(folder);
      if (state === undefined) {
        if (there === undefined) return;
        await around('remove folder', () =>
          isData === true && there.isDirectory() ? rm(folder, { recursive: true }) : rmdir(folder),
        );
      } else {
        if (there === undefined) await around('make folder', () => mkdir(folder, { mode: 0o700 }));
        const { mode, owner } = rightsOf(state.access, FOLDER_MODES);
        await around('set mode', async () => {
          await chown(folder, owner.uid, owner.gid);
          await chmod(folder, mode);
        });
      }
      await syncFolder(path.dirname(folder));
    },
  };
}

export function posixFiles(around: Around): ItemStore<'file'> {
  return {
    read: async ({ path: file }) => {
      const stats = await look(file);
      if (stats === undefined) return undefined;
      const { sha256 } = await hashFile(file, ['sha256'], { maxBytes: MAX_BYTES });
      return { sha256, access: accessOf(stats, FILE_MODES) };
    },
    write: async ({ path: file }, state, content) => {
      const temporary = path.join(path.dirname(file), `.${path.basename(file)}.installing`);
      await around('remove leftover', () => rm(temporary, { force: true }));
      if (state === undefined) {
        if ((await look(file)) === undefined) return;
        await around('remove file', () => unlink(file));
        return syncFolder(path.dirname(file));
      }
      const options = { algorithms: ['sha256'], maxBytes: MAX_BYTES, temporary } as const;
      const pending = await around('write file', () =>
        copyPendingFile(content ?? file, file, {
          ...options,
          ...rightsOf(state.access, FILE_MODES),
          accept: ({ sha256 }) => {
            if (sha256 !== state.sha256) throw new Error('found another digest than was planned');
          },
        }),
      );
      await around('name file', () => pending.place());
    },
    keep: async ({ path: file }, to) => {
      const limits = { algorithms: ['sha256'], mode: 0o600, maxBytes: MAX_BYTES } as const;
      await (await copyPendingFile(file, to, limits)).place();
    },
  };
}

export async function posixStrangers(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder)) {
    if (found.length >= MAX_STRANGERS) break;
    const location = path.join(folder, entry);
    const stats = await look(location);
    if (stats === undefined) continue;
    const isOurs = stats.uid === 0 || stats.uid === process.geteuid?.();
    if (!isOurs || stats.isSymbolicLink() || (stats.mode & 0o022) !== 0) found.push(location);
    else if (stats.isDirectory()) found.push(...(await posixStrangers(location)));
  }
  return found.slice(0, MAX_STRANGERS);
}

function look(location: string): Promise<Stats | undefined> {
  return lstat(location).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  });
}

function accessOf({ mode, uid, gid }: Stats, modes: Readonly<Record<string, number>>): string {
  const bits = mode & 0o7777;
  const isOurs = uid === process.geteuid?.() && gid === process.getegid?.();
  const word = isOurs && Object.keys(modes).find((name) => modes[name] === bits);
  return word || `${bits.toString(8).padStart(4, '0')} ${uid}:${gid}`;
}

function rightsOf(
  access: string,
  modes: Readonly<Record<string, number>>,
): { readonly mode: number; readonly owner: { readonly uid: number; readonly gid: number } } {
  const own = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
  const mode = modes[access];
  if (mode !== undefined) return { mode, owner: own };
  const [, bits, uid, gid] = /^([0-7]{4}) (\d{1,10}):(\d{1,10})$/.exec(access) ?? [];
  if (bits === undefined) throw new Error(`cannot give the access ${JSON.stringify(access)}`);
  return { mode: Number.parseInt(bits, 8), owner: { uid: Number(uid), gid: Number(gid) } };
}
