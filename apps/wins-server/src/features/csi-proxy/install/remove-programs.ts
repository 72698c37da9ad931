import { hashFile, TrustedFileError, whenNotHeld } from '@wins/trusted-files';
import { errnoOf, messageOf } from '@wins/base';
import { rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { InstallRecord, ObsoleteProgram } from '../decide/install-record.js';

/** A scanner holds a program for a moment. */
const HELD_MS = 5_000;

/**
 * Removes programs of the record with the folders that were made for them. The program of an installation that was taken over is removed only as
 * long as it is the one that was seen then. Never rejects.
 *
 * @returns Those that are gone or no longer the daemon's to remove, and why others stay.
 */
export async function removePrograms(
  programs: readonly string[],
  { releases, obsolete }: InstallRecord,
  signal: AbortSignal,
): Promise<{ readonly done: readonly string[]; readonly problems: readonly string[] }> {
  const done: string[] = [];
  const problems: string[] = [];
  for (const program of programs) {
    try {
      const isOwn = releases.some((release) => release.program === program);
      const seen = isOwn ? undefined : await seenProgram(program);
      if (seen !== undefined && seen.sha256 !== obsolete?.sha256) {
        problems.push(`${program} stays: it is not the adopted program`);
      } else {
        await whenNotHeld(() => unlinkIfThere(program), { heldFileMs: HELD_MS, signal });
        // A folder with something else in it is not ours alone.
        if (isOwn) await rmdir(path.dirname(program)).catch(() => undefined);
      }
      done.push(program);
    } catch (error) {
      problems.push(`cannot remove ${program}: ${messageOf(error)}`);
    }
  }
  return { done, problems };
}

/** A program that someone else has put there, as it is now; undefined when there is none. @throws TrustedFileError. */
export async function seenProgram(file: string): Promise<ObsoleteProgram | undefined> {
  try {
    return { path: file, sha256: (await hashFile(file, ['sha256'])).sha256 };
  } catch (error) {
    if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
    throw error;
  }
}

async function unlinkIfThere(program: string): Promise<void> {
  try {
    await unlink(program);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) throw error;
  }
}
