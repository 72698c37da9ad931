import { posixFileTrust } from '@wins/trusted-files';
import { mkdir } from 'node:fs/promises';

/**
 * Makes the folder of a ring for this user alone, with those above it, or checks that no one else has a right to it. On Windows,
 * where modes say nothing, it is made and no more: give `prepareDirectory` there.
 *
 * @throws TrustedFileError; on Windows what Node throws.
 */
export async function preparePrivateDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') await mkdir(directory, { recursive: true });
  else posixFileTrust().ensurePrivateFolder(directory);
}
