import { open } from 'node:fs/promises';

/**
 * Flushes a folder, so that a name that was just made, renamed or removed in it survives a loss of power.
 *
 * Windows has no such call and needs none: NTFS keeps names in its journal.
 */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
