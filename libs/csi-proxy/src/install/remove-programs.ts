import { hashFile } from '@wins/trusted-files';
import { errnoOf, messageOf } from '@wins/wins-program';
import { rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { InstallRecord } from '../decide/install-record.js';

/** What became of programs that are not needed any more. */
export interface RemovedPrograms {
  /** They are gone, or are no longer this library's to remove. */
  readonly done: readonly string[];
  /** Why the others stay. */
  readonly problems: readonly string[];
}

/**
 * Removes programs of the record with the folders that were made for them. The program of an installation that was taken over is removed only as
 * long as it is the one that was seen then. Never rejects.
 */
export async function removePrograms(
  programs: readonly string[],
  { releases, obsolete }: InstallRecord,
): Promise<RemovedPrograms> {
  const done: string[] = [];
  const problems: string[] = [];
  for (const program of programs) {
    try {
      const isOwn = releases.some((release) => release.program === program);
      if (!isOwn && (await digestOf(program)) !== obsolete?.sha256) {
        problems.push(`${program} stays: it is not the one that was taken over`);
      } else {
        await unlessGone(() => unlink(program));
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

/** Of what is gone already: the one that is wanted. */
async function digestOf(program: string): Promise<string | undefined> {
  return (await hashFile(program, ['sha256'])).sha256;
}

async function unlessGone(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
