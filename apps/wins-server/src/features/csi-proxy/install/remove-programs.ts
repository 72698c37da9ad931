import { hashFile, TrustedFileError, whenNotHeld } from '@wins/trusted-files';
import { errnoOf, messageOf } from '@wins/base';
import { rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { InstallRecord, ObsoleteProgram } from '../decide/install-record.js';

/** Time to retry while a virus scanner keeps a program open. */
const HELD_MS = 5_000;

/**
 * Removes programs. Keeps a program that another installer placed, if that program has changed. The programs in `done` need no
 * further attempt. Never rejects.
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
        // Fails if other files are in the folder.
        if (isOwn) await rmdir(path.dirname(program)).catch(() => undefined);
      }
      done.push(program);
    } catch (error) {
      problems.push(`cannot remove ${program}: ${messageOf(error)}`);
    }
  }
  return { done, problems };
}

/** Returns path and digest of another installer's program, if it exists. @throws TrustedFileError. */
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
