import { writePendingFile } from './pending-file.js';
import type { PendingOptions, PlaceOptions, WriteAt } from './pending-file.js';
import { rename } from 'node:fs/promises';
import { fileSystemError } from '../file-system-error.js';
import { syncFolder, type HeldPatience, whenNotHeld } from './when-not-held.js';
import path from 'node:path';

export interface ReplaceOptions extends PlaceOptions, Partial<PendingOptions> {
  /** Temporary path in the same folder. Default: a hidden name that cannot be guessed. */
  readonly temporary?: string | undefined;
}

/**
 * Creates a file, by default with mode 0600, or replaces one, atomically and durably: a process that opens it, even after
 * a loss of power, finds the old content or the new one. On failure, the old file is untouched and no temporary remains.
 *
 * @throws TrustedFileError `notFound` (no folder), `accessDenied`, `alreadyExists` (the temporary name),
 * `notRegularFile`, `inUse`, `noSpace`, `unknown`.
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
 * Moves a file on one file system, atomically replacing an existing file, and durably in both folders.
 *
 * @throws TrustedFileError `notFound`, `accessDenied`, `inUse`, `notRegularFile` (a folder has the name), `unknown`.
 */
export async function moveFile(from: string, to: string, patience: HeldPatience = {}) {
  try {
    await whenNotHeld(() => rename(from, to), patience);
    await syncFolder(path.dirname(to));
    if (path.dirname(from) !== path.dirname(to)) await syncFolder(path.dirname(from));
  } catch (error) {
    throw fileSystemError(error, 'replace', to);
  }
}

/**
 * Writes a private file as {@link writePendingFile} does, but directly under its final name: refuses an existing file or
 * link of that name. During the write the name refers to a partial file; after a failure it does not exist.
 *
 * @throws TrustedFileError `notFound` (no folder), `accessDenied`, `alreadyExists`, `noSpace`, `unknown`.
 */
export async function writeNewPrivateFile(
  path: string,
  fill: (write: WriteAt) => Promise<void>,
  options: Pick<PendingOptions, 'create'> = {},
): Promise<void> {
  await writePendingFile(path, { mode: 0o600, ...options }, fill, path);
}
