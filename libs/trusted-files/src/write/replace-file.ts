import type { Optional } from '@wins/base';
import {
  writePendingFile,
  type PendingOptions,
  type PlaceOptions,
  type WriteAt,
} from './pending-file.js';
import { rename } from 'node:fs/promises';
import { fileSystemError } from '../file-system-error.js';
import { syncFolder } from './when-not-held.js';
import path from 'node:path';

/** Options of {@link replaceFile}. */
export interface ReplaceOptions extends PlaceOptions, Optional<PendingOptions> {
  /** Temporary path in the same folder. Default: a hidden random name. */
  readonly temporary?: string | undefined;
}

/**
 * Creates or replaces a file (default mode 0600). A process that opens the file, even after a power loss, finds the old or the
 * new content. On failure, the old file is untouched and no temporary file remains.
 *
 * @throws TrustedFileError `notFound` (no folder), `accessDenied`, `alreadyExists` (the temporary name), `notRegularFile`,
 * `inUse`, `noSpace`, `unknown`.
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
 * Moves a file within a file system, atomically and durably. Replaces an existing file.
 *
 * @throws TrustedFileError `notFound`, `accessDenied`, `inUse`, `notRegularFile` (a folder has the name), `unknown`.
 */
export async function moveFile(from: string, to: string) {
  try {
    await rename(from, to);
    await syncFolder(path.dirname(to));
    if (path.dirname(from) !== path.dirname(to)) await syncFolder(path.dirname(from));
  } catch (error) {
    throw fileSystemError(error, 'replace', to);
  }
}

/**
 * Writes a private file directly under its final name. Refuses an existing file or link. During the write the file is partial;
 * after a failure there is no file.
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
