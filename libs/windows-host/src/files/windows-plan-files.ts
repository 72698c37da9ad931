import {
  fileSystemError,
  isHeld,
  replaceFile,
  TrustedFileError,
  whenNotHeld,
} from '@wins/trusted-files';
import { errnoOf, messageOf, quoteText, reporter } from '@wins/base';
import { existsSync, realpathSync } from 'node:fs';
import { lstat, mkdir, open, readFile, rm, rmdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { fileHolders } from './file-holders.js';
import { createFolder, createPrivateFile, listFor, setMode } from '../access/private-file.js';
import { windowsFileTrust } from '../access/windows-file-trust.js';

/** Permissions of a file. Other POSIX attributes have no meaning on Windows. */
export type PlanFileMode = Readonly<Record<'mode', number>>;

/** Options of {@link windowsPlanFiles}. */
export interface WindowsPlanFilesOptions {
  /** Creates the errors to throw. Default: an `Error`. */
  readonly failure?: ((message: string, options: ErrorOptions) => Error) | undefined;
  /** Receives a warning for each file that was written in place. */
  readonly onWarning?: ((message: string) => unknown) | undefined;
  /** Time in milliseconds to retry while another program holds a file. Default: 5,000. */
  readonly heldFileMs?: number | undefined;
}

/** Files whose permission bits become access lists. Paths are absolute. All methods reject with errors made by `failure`. */
export interface WindowsPlanFiles {
  /** A plan's user and group are POSIX ids, which have no meaning on Windows. */
  readonly hasOwners: false;
  /** Creates missing parents with these rights; sets the rights of an existing folder. */
  ensureFolder(folder: string, rights: PlanFileMode): Promise<void>;
  /**
   * Replaces a file unless it already has this content; always sets its rights. Follows a link. If another
   * program holds the file open for shared writing, and replacing the file fails for this reason, overwrites it in place.
   */
  writeFile(file: string, content: Buffer, rights: PlanFileMode): Promise<void>;
  /** Removes a file or, if `directory` is true, a folder with all its content. Ignores an absent one. */
  remove(file: string, directory: boolean): Promise<void>;
  /** Creates a folder that only administrators and this account can change, or checks an existing folder. */
  ensurePrivateFolder(folder: string): Promise<void>;
  /** Writes and flushes a file that only administrators and this account can read. */
  writePrivateFile(file: string, content: Buffer): Promise<void>;
}

/** Each file gets its access list before its first byte. */
export function windowsPlanFiles({
  failure = (message, options) => new Error(message, options),
  onWarning,
  heldFileMs = 5000,
}: WindowsPlanFilesOptions = {}): WindowsPlanFiles {
  const report = reporter(onWarning);
  const patiently = <T>(action: () => Promise<T>): Promise<T> => whenNotHeld(action, heldFileMs);
  const trying = async (
    tried: string,
    location: string,
    action: () => Promise<void>,
  ): Promise<void> => {
    try {
      await action();
    } catch (cause) {
      const error = fileSystemError(cause, tried, location);
      const found = error instanceof TrustedFileError ? error.found : messageOf(error);
      const holders = isHeld(cause) ? await holdersOf(location) : '';
      throw failure(`cannot ${tried} ${quoteText(location)}: ${found}${holders}`, { cause });
    }
  };
  return {
    hasOwners: false,
    ensureFolder: (folder, { mode }) =>
      trying('make the folder', folder, () => ensureFolder(folder, mode)),
    writeFile: (file, content, { mode }) =>
      trying('write', file, async () => {
        await mkdir(path.dirname(file), { recursive: true });
        const location = existsSync(file) ? realpathSync(file) : file;
        if (await patiently(() => hasContent(location, content))) {
          setMode(location, mode, false);
          return;
        }
        try {
          await replace(location, content, mode, { heldFileMs, isFlushed: false });
        } catch (error) {
          if (!isHeld(error) || !(await overwrite(location, content, mode))) throw error;
          const held = await holdersOf(location);
          report(`${quoteText(file)} was written in place: it cannot be replaced${held}`);
        }
      }),
    remove: (file, directory) =>
      trying('remove', file, () => patiently(() => remove(file, directory))),
    ensurePrivateFolder: (folder) =>
      // oxlint-disable-next-line typescript/require-await -- errors are rejections
      trying('make the folder', folder, async () => windowsFileTrust().ensurePrivateFolder(folder)),
    writePrivateFile: (file, content) =>
      trying('write', file, () => replace(file, content, 0o600, { heldFileMs, isFlushed: true })),
  };
}

async function holdersOf(file: string): Promise<string> {
  const holders = await fileHolders(file);
  return holders.length === 0
    ? '; does another program hold it?'
    : `; held by ${holders.join(', ')}`;
}

/**
 * Overwrites a file in place, as the Go agent does. Returns false when the file is gone or another program forbids
 * shared writing. A reader may see a partial file.
 */
async function overwrite(file: string, content: Buffer, mode: number): Promise<boolean> {
  const handle = await open(file, 'r+').catch((error: unknown) => {
    if (!isHeld(error) && errnoOf(error) !== 'ENOENT') throw error;
  });
  if (handle === undefined) return false;
  try {
    setMode(file, mode, false);
    await handle.writeFile(content);
    await handle.truncate(content.length);
    return true;
  } finally {
    await handle.close();
  }
}

async function ensureFolder(folder: string, mode: number): Promise<void> {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !existsSync(at); at = path.dirname(at)) missing.push(at);
  const attributes = listFor(mode, true);
  for (const step of missing.reverse()) createFolder(step, attributes);
  if (!(await stat(folder)).isDirectory()) throw new Error('it is a file');
  setMode(folder, mode, true);
}

async function hasContent(file: string, content: Buffer): Promise<boolean> {
  try {
    const stats = await stat(file);
    if (!stats.isFile()) throw new Error('it is not a regular file');
    return stats.size === content.length && content.equals(await readFile(file));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function replace(
  file: string,
  content: Buffer,
  mode: number,
  options: { readonly heldFileMs: number; readonly isFlushed: boolean },
): Promise<void> {
  const create = (pending: string): void => createPrivateFile(pending, mode);
  return replaceFile(file, content, { create, ...options });
}

async function remove(file: string, directory: boolean): Promise<void> {
  if (directory) return rm(file, { recursive: true, force: true });
  try {
    if ((await lstat(file)).isDirectory()) await rmdir(file);
    else await unlink(file);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
