import { constants } from 'node:fs';
import { open, readdir, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { errnoOf, messageOf } from '@wins/wins-program';
import type { Effects } from '../run/effects.js';
import { UpgradeError } from '../upgrade-error.js';

const PRIVATE = 0o600;
// Windows has no such flag.
const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;

/**
 * Replaces a file by one with this text, as one act: whoever reads it, after a power failure too, finds the old text or the new.
 *
 * @param temporary - A free path in the same folder.
 * @throws UpgradeError `fileFailed`; the old file is then untouched.
 */
export async function replaceText(
  effects: Effects,
  file: string,
  temporary: string,
  text: string,
): Promise<void> {
  try {
    await effects.run(`write ${path.basename(file)}`, async () => {
      const handle = await open(temporary, 'w', PRIVATE);
      try {
        await handle.writeFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, file);
      await syncFolder(path.dirname(file));
    });
  } catch (error) {
    await discard(effects, temporary);
    throw fileError('write', file, error);
  }
}

/**
 * Reads a file of ours whole.
 *
 * @returns Undefined when there is none; an empty text when it has more than `limitBytes`, which is not ours then.
 * @throws UpgradeError `fileFailed`.
 */
export async function readText(file: string, limitBytes: number): Promise<string | undefined> {
  try {
    const handle = await open(file, constants.O_RDONLY | O_NOFOLLOW);
    try {
      const buffer = Buffer.alloc(limitBytes + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
        if (bytesRead === 0) return buffer.toString('utf8', 0, length);
        length += bytesRead;
        if (length > limitBytes) return '';
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw fileError('read', file, error);
  }
}

/** Moves a file over another as one act, and makes that durable in both folders. */
export async function moveOver(
  effects: Effects,
  what: string,
  from: string,
  to: string,
): Promise<void> {
  try {
    await effects.run(`move ${what}`, async () => {
      await rename(from, to);
      await syncFolder(path.dirname(to));
      if (path.dirname(from) !== path.dirname(to)) await syncFolder(path.dirname(from));
    });
  } catch (error) {
    throw fileError(`move ${from} to`, to, error);
  }
}

/** Removes a file, if it is there. */
export async function remove(effects: Effects, what: string, file: string): Promise<void> {
  try {
    await effects.run(`remove ${what}`, () => unlinkIfThere(file));
  } catch (error) {
    throw fileError('remove', file, error);
  }
}

/** Takes away what did not become whole: where it failed, the disk may be full. What cannot be removed now goes with the next sweep. */
export async function discard(effects: Effects, file: string): Promise<void> {
  await effects.once('discard', () => unlinkIfThere(file)).catch(() => undefined);
}

/** Removes from a folder of ours what is not to be kept. What is still in use stays for the next time. */
export async function sweep(
  effects: Effects,
  folder: string,
  keep: readonly string[],
): Promise<void> {
  let entries;
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw fileError('look into', folder, error);
  }
  for (const entry of entries) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory() || keep.includes(file)) continue;
    try {
      await effects.once('sweep', () => unlinkIfThere(file));
    } catch (error) {
      if (!['EBUSY', 'EPERM', 'EACCES'].includes(errnoOf(error) ?? '')) {
        throw fileError('remove', file, error);
      }
    }
  }
}

async function unlinkIfThere(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/** Makes renames survive a power failure. Windows cannot open a folder, and needs no such step. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const FOUND: Readonly<Partial<Record<string, string>>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'access is denied',
  EPERM: 'the operation is not permitted',
  EBUSY: 'another program holds the file',
  ETXTBSY: 'another program holds the file',
  ENOENT: 'there is no such file or folder',
};

/** Says which file operation failed, on what, and why. */
export function fileError(tried: string, file: string, error: unknown): UpgradeError {
  if (error instanceof UpgradeError) return error;
  const found = FOUND[errnoOf(error) ?? ''] ?? 'an error of the system';
  return new UpgradeError('fileFailed', `cannot ${tried} ${file}: ${found} (${messageOf(error)})`, {
    cause: error,
  });
}
