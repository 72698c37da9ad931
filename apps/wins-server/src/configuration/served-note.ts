import { droppedKeys, permittedDrops, type GuardedParts, type LoadedConfig } from '@wins/config';
import { GUARDED_KEYS, type GuardedKey } from '@wins/base';
import { StateFile } from '@wins/files';
import type { FileTrust } from '@wins/trusted-files';
import path from 'node:path';
import { stateDirectoryOf } from '../state-directory.js';

/** Note of a daemon about the config that it serves, for the next daemon and the doctor. */
export interface ServedNote {
  readonly served: GuardedParts;
  /** Guarded keys that were lost at a start and not accepted since. */
  readonly lost: readonly GuardedKey[];
  /** Time of the latest loss; absent when no key was lost. */
  readonly lostAt?: string;
}

/** Maximum size of the note, which contains the whitelist of a config of at most 1 MiB. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Returns the note file of the daemon with this pipe. A damaged note counts as absent; a note that others could write is refused. */
export function servedNote(
  listen: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
): StateFile<ServedNote> {
  return new StateFile({
    path: path.join(stateDirectoryOf(listen), 'served-config.json'),
    ...{ maxBytes: MAX_BYTES, trust, parse: noteOf },
    damaged: () => undefined,
  });
}

function noteOf(json: unknown): ServedNote {
  const { served, lost, lostAt } = json as Partial<ServedNote>;
  const { processPaths, proxyPorts } = served?.whiteList ?? {};
  const isPath = ({ path: file }: { readonly path: unknown }) => typeof file === 'string';
  const isNote = processPaths?.every(isPath) === true && Array.isArray(proxyPorts);
  if (served === undefined || !isNote) throw new TypeError('this is not a note of wins');
  const keys = GUARDED_KEYS.filter((key) => lost?.includes(key));
  return { served, lost: keys, ...(typeof lostAt === 'string' && { lostAt }) };
}

/** Returns the guarded keys that the next config lacks without a permission by name or for its content. */
export async function missingKeys(
  before: GuardedParts,
  { config, path, sha256 }: LoadedConfig,
  trust: FileTrust,
  allowed: readonly string[] = [],
): Promise<readonly GuardedKey[]> {
  const dropped = droppedKeys(before, config).filter((key) => !allowed.includes(key));
  if (dropped.length === 0) return [];
  const permitted = await permittedDrops(path, sha256, trust);
  return dropped.filter((key) => !permitted.includes(key));
}
