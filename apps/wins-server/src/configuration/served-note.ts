import { GUARDED_KEYS, type GuardedKey, type GuardedParts } from '@wins/config';
import { openTrustedFile, readWhole, TrustedFileError, type FileTrust } from '@wins/trusted-files';
import path from 'node:path';
import { stateDirectoryOf } from '../state-directory.js';

/** What a daemon notes of the config that it serves with, for the next one and the doctor. */
export interface ServedNote {
  /** Of the config that was in force last. */
  readonly served: GuardedParts;
  /** Guarded keys that went with a start, which nobody has accepted yet. */
  readonly lost: readonly GuardedKey[];
  /** When the latest of them went; absent when there are none. */
  readonly lostAt?: string;
}

/** A whitelist of a config, which has 1 MiB at most. */
const LIMITS = { maxBytes: 4 * 1024 * 1024 };

/** Where the daemon with this pipe notes what it serves with. */
export function servedNoteFile(listen: string): string {
  return path.join(stateDirectoryOf(listen), 'served-config.json');
}

/**
 * Reads the note of the daemon with this pipe; undefined when there is none, or it is damaged.
 *
 * @throws TrustedFileError for one that others could have written, or that this user may not read.
 */
export async function readServedNote(
  listen: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
): Promise<ServedNote | undefined> {
  try {
    const file = await openTrustedFile(servedNoteFile(listen), trust);
    try {
      return parseNote(Buffer.from(await readWhole(file, LIMITS)).toString('utf8'));
    } finally {
      await file.handle.close();
    }
  } catch (error) {
    if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
    throw error;
  }
}

function parseNote(text: string): ServedNote | undefined {
  try {
    const { served, lost, lostAt } = JSON.parse(text) as Partial<ServedNote>;
    const { processPaths, proxyPorts } = served?.whiteList ?? {};
    const isPath = ({ path: file }: { readonly path: unknown }) => typeof file === 'string';
    if (served === undefined || processPaths?.every(isPath) !== true) return undefined;
    if (!Array.isArray(proxyPorts)) return undefined;
    const keys = GUARDED_KEYS.filter((key) => lost?.includes(key));
    return { served, lost: keys, ...(typeof lostAt === 'string' && { lostAt }) };
  } catch {
    return undefined;
  }
}
