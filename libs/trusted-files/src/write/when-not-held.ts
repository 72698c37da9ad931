import { setTimeout as delay } from 'node:timers/promises';
import { errnoOf } from '@wins/base';
import { TrustedFileError } from '../trusted-file-error.js';
import { open } from 'node:fs/promises';

const FIRST_DELAY_MS = 5;
const LONGEST_DELAY_MS = 1000;
const HELD: Readonly<Record<'win32' | 'posix', readonly string[]>> = {
  // A sharing violation arrives as one of these three.
  win32: ['EBUSY', 'EPERM', 'EACCES'],
  // Elsewhere no one keeps a name from being replaced but the file system itself; permission does not change by waiting.
  posix: ['EBUSY', 'ETXTBSY'],
};

/** How long to wait for a file that another program holds. */
export interface HeldPatience {
  /** In milliseconds. Default 0: the first failure counts. */
  readonly heldFileMs?: number | undefined;
  /** Ends the waiting with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Whether another program holds the file for the moment: a scanner, a backup, or the file runs. */
export function isHeld(error: unknown, platform: NodeJS.Platform = process.platform): boolean {
  const cause = error instanceof TrustedFileError ? error.cause : error;
  return HELD[platform === 'win32' ? 'win32' : 'posix'].includes(errnoOf(cause) ?? '');
}

/**
 * Does something with a file, again and again while another program holds the file: after 5 ms, 10 ms, and so on up to a second.
 *
 * @throws what the last attempt threw.
 */
export async function whenNotHeld<T>(
  act: () => Promise<T>,
  { heldFileMs = 0, signal }: HeldPatience = {},
): Promise<T> {
  const endMs = performance.now() + heldFileMs;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS)) {
    try {
      return await act();
    } catch (error) {
      const leftMs = endMs - performance.now();
      if (!isHeld(error) || leftMs <= 0) throw error;
      await delay(Math.min(delayMs, leftMs), undefined, { signal });
    }
  }
}

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
