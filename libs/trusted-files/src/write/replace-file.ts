import {
  type PendingOptions,
  type PlaceOptions,
  writePendingFile,
  type WriteAt,
} from './pending-file.js';
import { rename } from 'node:fs/promises';
import { fileSystemError } from '../file-system-error.js';
import { syncFolder, type HeldPatience, whenNotHeld } from './when-not-held.js';
import path from 'node:path';

/** Options of {@link replaceFile}. */
export interface ReplaceOptions extends PlaceOptions, Partial<PendingOptions> {
  /** Temporary path in the same folder. Default: a hidden name that cannot be guessed. */
  readonly temporary?: string | undefined;
}

/**
 * Creates a file or replaces an existing one, atomically and durably: a process that opens it, even after a loss of
 * power, finds the old content or the new one. On failure, the old file is untouched and no temporary file remains.
 *
 * @param options - `mode`: default 0600. Without `isFlushed` and `isDurable` only the name is replaced as one act.
 * @throws TrustedFileError `notFound` (no folder), `accessDenied`, `alreadyExists` (the temporary name), `notRegularFile`,
 *   `inUse`, `noSpace`, `unknown`.
 */
export async function replaceFile(
  path: string,
  content: Uint8Array | string,
  { mode = 0o600, owner, isFlushed, create, temporary, ...place }: ReplaceOptions = {},
): Promise<void> {
  const rights = { mode, owner, isFlushed, create };
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const pending = await writePendingFile(path, rights, (write) => write(bytes, 0), temporary);
  await pending.place(place);
}

/**
 * Moves a file to another path, atomically replacing an existing file, and durably in both folders. Both paths must be
 * on one file system.
 *
 * @throws TrustedFileError `notFound`, `accessDenied`, `inUse`, `notRegularFile` (a folder has the name), `unknown`.
 */
export async function moveFile(
  from: string,
  to: string,
  patience: HeldPatience = {},
): Promise<void> {
  try {
    await whenNotHeld(() => rename(from, to), patience);
    await syncFolder(path.dirname(to));
    if (path.dirname(from) !== path.dirname(to)) await syncFolder(path.dirname(from));
  } catch (error) {
    throw fileSystemError(error, 'replace', to);
  }
}

/**
 * Writes a file that nobody else can open, under an unused name: refuses an existing file or link of that name. The
 * name shows a partial file during the write, and no file after a failure.
 *
 * @param fill - Writes the content; what it throws ends it, unchanged but for errors of the file system.
 * @param options - `create` where permission bits do not say who may use a file.
 * @throws TrustedFileError `notFound` (no folder), `accessDenied`, `alreadyExists`, `noSpace`, `unknown`.
 */
export async function writeNewPrivateFile(
  path: string,
  fill: (write: WriteAt) => Promise<void>,
  options: Pick<PendingOptions, 'create'> = {},
): Promise<void> {
  await writePendingFile(path, { mode: 0o600, ...options }, fill, path);
}
