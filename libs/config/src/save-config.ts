import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readConfigFile } from './config-file.js';
import { type ConfigChanges, editConfig } from './edit-config.js';
import { translateNodeError } from './node-errors.js';

const EXPECTED = 'a folder in which the file can be replaced';

/**
 * Changes keys of a configuration file and leaves everything else in it as it is.
 *
 * Atomic: whoever reads meanwhile, or after a crash, sees the old file or the new one. The mode and (as root) the owner
 * are kept; a new file gets mode 0600. Of a symbolic link the target is replaced. Two savers at once: the
 * last one wins. What would not load afterwards is not written.
 * @throws ConfigError as for loading; `invalid` when the file or a change is not valid; `accessDenied`, `notFound` (no folder),
 *   `unknown` from writing. The old file is then untouched.
 */
export async function saveConfig(path: string, changes: ConfigChanges): Promise<void> {
  const read = await readConfigFile(path);
  const before = read?.bytes ?? new Uint8Array();
  const after = Buffer.from(editConfig(before, changes, { fileName: path }));
  if (after.equals(before)) return;
  try {
    await replaceFile(read === undefined ? path : await realpath(path), after, read?.stats);
  } catch (error) {
    throw translateNodeError(error, path, EXPECTED);
  }
}

async function replaceFile(
  path: string,
  content: Uint8Array,
  like: Stats | undefined,
): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomBytes(8).toString('hex')}.tmp`);
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
