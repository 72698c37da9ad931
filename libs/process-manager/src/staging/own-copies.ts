import type { ProcessHost } from '@wins/base';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { stagedPathsOf, type AllowedExecutable } from '../policy/executable-policy.js';
import { markOfCopy } from '../policy/parsed-path.js';

/** A copy that only one detached run executes. */
export interface OwnCopy {
  readonly file: string;
  /** Beginning of the run's mark. */
  readonly mark: string;
}

/** Finds the copies of detached runs beside the programs of a list. Never rejects. */
export async function findOwnCopies(
  allowed: readonly AllowedExecutable[],
  { dialect }: Pick<ProcessHost, 'dialect'>,
): Promise<readonly OwnCopy[]> {
  const paths = dialect === 'windows' ? path.win32 : path.posix;
  const found: OwnCopy[] = [];
  for (const staged of new Set(stagedPathsOf(allowed, dialect))) {
    // A folder that does not exist has no copies.
    const names = await readdir(paths.dirname(staged)).catch(() => []);
    for (const name of names) {
      const mark = markOfCopy(name, paths.basename(staged));
      if (mark !== undefined) found.push({ file: paths.join(paths.dirname(staged), name), mark });
    }
  }
  return found;
}

/** Retries, because on Windows the file of an ended program may stay open for a moment. A copy that stays is removed by the next daemon. */
export async function removeOwnCopy(file: string): Promise<void> {
  await rm(file, { force: true, maxRetries: 5, retryDelay: 100 }).catch(() => undefined);
}
