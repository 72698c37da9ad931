import { setTimeout as delay } from 'node:timers/promises';
import { errnoOf } from '@wins/base';
import { TrustedFileError } from '../trusted-file-error.js';
import { open } from 'node:fs/promises';

const FIRST_DELAY_MS = 5;
const LONGEST_DELAY_MS = 1000;
const HELD: Readonly<Record<'win32' | 'posix', readonly string[]>> = {
  // Node reports a sharing violation as any of these.
  win32: ['EBUSY', 'EPERM', 'EACCES'],
  // On POSIX only the file system can block a replacement. EPERM and EACCES are final there.
  posix: ['EBUSY', 'ETXTBSY'],
};

/** Reports whether `error` means that a process holds the file: a scanner, a backup, or a program that runs from it. */
export function isHeld(error: unknown, platform: NodeJS.Platform = process.platform): boolean {
  const cause = error instanceof TrustedFileError ? error.cause : error;
  return HELD[platform === 'win32' ? 'win32' : 'posix'].includes(errnoOf(cause) ?? '');
}

/** Retries while another program holds the file, with delays that double from 5 ms to 1 s. After `heldFileMs`, throws the last error. */
export async function whenNotHeld<T>(action: () => Promise<T>, heldFileMs: number): Promise<T> {
  const endMs = performance.now() + heldFileMs;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS)) {
    try {
      return await action();
    } catch (error) {
      const leftMs = endMs - performance.now();
      if (!isHeld(error) || leftMs <= 0) throw error;
      await delay(Math.min(delayMs, leftMs));
    }
  }
}

/** Makes the names in a folder survive a power loss. NTFS has a journal for that. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
