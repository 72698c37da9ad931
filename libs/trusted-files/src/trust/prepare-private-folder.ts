import { mkdir } from 'node:fs/promises';
import { posixFileTrust } from './posix-file-trust.js';

/**
 * Creates a folder for this user alone, with those above it, or checks that no one else has a right to it. On Windows, where modes say
 * nothing, it only creates the folder: there the caller has access lists to set.
 *
 * @throws TrustedFileError; on Windows what Node throws.
 */
export async function preparePrivateFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') await mkdir(folder, { recursive: true });
  else posixFileTrust().ensurePrivateFolder(folder);
}
