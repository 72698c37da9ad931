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
import {
  accessOf,
  descriptorOf,
  refused,
  setAccess,
  keepFile,
  type ContentRoom,
  type NodeRoom,
} from './node-room.js';
import { removeFile } from './remove-program.js';

const MAX_BYTES = 512 * 1024 * 1024;
const MAX_STRANGERS = 100;
/** Retry time for a file held by a program that has just ended, or by a scanner. */
const PATIENCE = { heldFileMs: 15_000 };
/** WRITE_DAC and WRITE_OWNER. */
const MAY_CHANGE_LIST = 0x4_0000 | 0x8_0000;

/** A folder. `isData`: all that is in it goes with it. */
export interface FolderItem {
  readonly path: string;
  readonly isData?: true;
}

/** Folders with their access lists. Creates a missing folder with its list; sets list and owner of an existing one. */
export function nodeFolders(): NodeRoom<FolderItem, { readonly access: string }> {
  return {
    read: ({ path: folder }) => {
      const stats = look(folder);
      if (stats === undefined) return Promise.resolve(undefined);
      const access = stats.isDirectory() ? accessOf(fileSecurity(folder), true) : 'no folder';
      return Promise.resolve({ access });
    },
    write: async ({ path: folder, isData }, state) => {
      const there = look(folder);
      if (state === undefined) {
        if (there === undefined) return;
        const isWhole = isData === true && there.isDirectory();
        await whenNotHeld(
          () => (isWhole ? rm(folder, { recursive: true }) : rmdir(folder)),
          PATIENCE,
        );
      } else if (there === undefined) createFolder(folder, attributesOf(state.access, true));
      else setAccess(folder, state.access, true);
    },
  };
}

/** A file by its digest, and who may use it. */
export interface FileState {
  readonly sha256: string;
  readonly access: string;
}

/**
 * Files with their access lists: written under a temporary name with the list set before the first byte, flushed, and
 * renamed.
 */
export function nodeFiles(): ContentRoom<{ readonly path: string }, FileState> {
  return {
    read: async ({ path: file }) => {
      const stats = look(file);
      if (stats === undefined) return undefined;
      if (!stats.isFile()) throw refused(`cannot read ${quoteText(file)}`, 'no regular file');
      const { sha256 } = await hashFile(file, ['sha256'], { maxBytes: MAX_BYTES });
      return { sha256, access: accessOf(fileSecurity(file), false) };
    },
    write: async ({ path: file }, state, content) => {
      const temporary = path.win32.join(
        path.win32.dirname(file),
        `.${path.win32.basename(file)}.installing`,
      );
      await rm(temporary, { force: true });
      if (state === undefined) {
        if (look(file) !== undefined) await removeFile(file, PATIENCE.heldFileMs);
        return;
      }
      const copy = await copyPendingFile(content ?? file, file, {
        ...{ algorithms: ['sha256'], maxBytes: MAX_BYTES, mode: 0o600, temporary },
        create: (made) => createFile(made, attributesOf(state.access, false)),
        accept: ({ sha256 }) => {
          if (sha256 !== state.sha256)
            throw refused(`cannot write ${quoteText(file)}`, `another digest than ${state.sha256}`);
        },
      });
      await copy.place(PATIENCE);
    },
    keep: ({ path: file }, to) => keepFile(file, to),
  };
}

/**
 * Returns the paths in a folder that others created or can change, at any depth; only the folder itself when its owner
 * or list let others change the list, because they may still have it open. At most 100 paths; does not follow links.
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
    const place = path.win32.join(folder, entry.name);
    const isFolder = entry.isDirectory();
    const distrust = judgeStep(readFileFacts(place), isFolder ? 'folder' : 'file', trusted);
    if (distrust !== undefined) found.push(place);
    else if (isFolder) found.push(...(await below(place, trusted)));
  }
  return found.slice(0, MAX_STRANGERS);
}

function attributesOf(access: string, isFolder: boolean): Buffer {
  return securityAttributes(descriptorOf(access, isFolder));
}

function look(place: string): Stats | undefined {
  try {
    return lstatSync(place);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}
