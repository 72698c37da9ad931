import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Puts a new file in the place of a file, or where there is none, in one step and durably.
 *
 * Mode and (as root) owner are those of `like`, else mode 0600. When it fails, nothing is left behind.
 * @throws the errors of Node, not translated.
 */
export async function replaceFile(
  path: string,
  content: Uint8Array,
  like: Stats | undefined,
): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.wins-config-${randomBytes(8).toString('hex')}.tmp`);
  // Exclusive: a planted file or link of that name is refused. Narrow until the owner is right.
  const handle = await open(temporary, 'wx', 0o600);
  try {
    try {
      await handle.writeFile(content);
      if (like !== undefined) await takeAfter(handle, like);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

async function takeAfter(handle: FileHandle, like: Stats): Promise<void> {
  if (process.geteuid?.() === 0) await handle.chown(like.uid, like.gid);
  await handle.chmod(like.mode & 0o777);
}

/** Makes the rename survive a power failure. Windows cannot open a folder, and needs no such step. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
