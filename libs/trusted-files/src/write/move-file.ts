import { rename } from 'node:fs/promises';
import path from 'node:path';
import { fileSystemError } from '../file-system-error.js';
import { syncFolder } from './sync-folder.js';
import { type HeldPatience, whenNotHeld } from './when-not-held.js';

/**
 * Moves a file over another, or where there is none, as one act, durably in both folders. Both must be on one file system.
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
