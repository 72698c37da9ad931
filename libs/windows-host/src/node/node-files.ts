import { copyPendingFile, hashFile, whenNotHeld } from '@wins/trusted-files';
import { errnoOf, quoteText, parseSecurityDescriptor } from '@wins/base';
import { lstatSync, type Stats } from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { fileSecurity, securityAttributes } from '../access/file-security.js';
import { createFile, createFolder } from '../access/private-file.js';
import { processAccount } from '../access/process-account.js';
import { readFileFacts, judgeStep } from '../access/trusted-file-judgement.js';
import { SYSTEM_ACCOUNTS } from '../access/who-may-write.js';
import * as items from './node-store.js';
import { removeFile } from './remove-program.js';

const MAX_BYTES = 512 * 1024 * 1024; // more than any program
const MAX_STRANGERS = 100;
/** Retry time for a file held by a program that has just ended, or by a virus scanner. */
const HELD_FILE_MS = 15_000;
const MAY_CHANGE_LIST = 0x4_0000 | 0x8_0000; // WRITE_DAC and WRITE_OWNER
/** If `isData`, removing the folder also removes its content. */
export interface FolderItem {
  readonly path: string;
  readonly isData?: true | undefined;
}

/** Creates a missing folder with its access list, or sets the access list and owner of an existing one. */
export function nodeFolders(): items.NodeStore<FolderItem, { readonly access: string }> {
  return {
    // oxlint-disable-next-line typescript/require-await -- errors are rejections
    read: async ({ path: folder }) => {
      const stats = look(folder);
      if (stats === undefined) return undefined;
      return {
        access: stats.isDirectory() ? items.accessOf(fileSecurity(folder), true) : 'no folder',
      };
    },
    write: async ({ path: folder, isData }, state) => {
      const there = look(folder);
      if (state === undefined) {
        if (there === undefined) return;
        const isWhole = isData === true && there.isDirectory();
        const action = () => (isWhole ? rm(folder, { recursive: true }) : rmdir(folder));
        await whenNotHeld(action, HELD_FILE_MS);
      } else if (there === undefined) createFolder(folder, attributesOf(state.access, true));
      else items.setAccess(folder, state.access, true);
    },
  };
}

/** Digest and access list of a file. */
export interface FileState {
  readonly sha256: string;
  /** `private`, `readable` or `executable`; other access lists as SDDL. */
  readonly access: string;
}

/** Reads and writes files. A write creates a temporary file with the final access list, fills and flushes it, and renames it. */
export function nodeFiles(): items.ContentStore<{ readonly path: string }, FileState> {
  return {
    read: async ({ path: file }) => {
      const stats = look(file);
      if (stats === undefined) return undefined;
      if (!stats.isFile()) throw items.refused(`cannot read ${quoteText(file)}`, 'no regular file');
      const { sha256 } = await hashFile(file, ['sha256'], { maxBytes: MAX_BYTES });
      return { sha256, access: items.accessOf(fileSecurity(file), false) };
    },
    write: async ({ path: file }, state, content) => {
      const { dir, base } = path.win32.parse(file);
      const temporary = path.win32.join(dir, `.${base}.installing`);
      await rm(temporary, { force: true });
      if (state === undefined) {
        if (look(file) !== undefined) await removeFile(file, HELD_FILE_MS);
        return;
      }
      const copy = await copyPendingFile(content ?? file, file, {
        algorithms: ['sha256'],
        maxBytes: MAX_BYTES,
        mode: 0o600,
        temporary,
        create: (made) => createFile(made, attributesOf(state.access, false)),
        accept: ({ sha256 }) => {
          if (sha256 === state.sha256) return;
          const found = `another digest than ${state.sha256}`;
          throw items.refused(`cannot write ${quoteText(file)}`, found);
        },
      });
      await copy.place({ heldFileMs: HELD_FILE_MS });
    },
    keep: async ({ path: file }, to) => {
      const limits = { algorithms: ['sha256'], mode: 0o600, maxBytes: MAX_BYTES } as const;
      await (await copyPendingFile(file, to, limits)).place();
    },
  };
}

/**
 * Returns up to 100 paths below `folder` that are links or that others can change. Does not follow links. Returns only
 * `[folder]` if another account owns the folder or may change its access list. That account may have an open handle to
 * the folder, and an open handle keeps its rights even after the access list has changed.
 */
export async function strangersIn(folder: string): Promise<readonly string[]> {
  const trusted = [processAccount().user];
  const { owner, entries } = parseSecurityDescriptor(readFileFacts(folder).sddl);
  const known = [...SYSTEM_ACCOUNTS, ...trusted];
  const isTheirs =
    owner === undefined ||
    !known.includes(owner) ||
    (entries ?? []).some(
      ({ type, rights, flags, sid }) =>
        type !== 'D' &&
        (rights & MAY_CHANGE_LIST) !== 0 &&
        !flags.includes('IO') &&
        !known.includes(sid),
    );
  return isTheirs ? [folder] : await below(folder, trusted);
}

async function below(folder: string, trusted: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (found.length >= MAX_STRANGERS) break;
    const location = path.win32.join(folder, entry.name);
    const isFolder = entry.isDirectory();
    const distrust = judgeStep(readFileFacts(location), isFolder ? 'folder' : 'file', trusted);
    if (distrust !== undefined) found.push(location);
    else if (isFolder) found.push(...(await below(location, trusted)));
  }
  return found.slice(0, MAX_STRANGERS);
}

function attributesOf(access: string, isFolder: boolean): Buffer {
  return securityAttributes(items.descriptorOf(access, isFolder));
}

function look(location: string): Stats | undefined {
  try {
    return lstatSync(location);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}
