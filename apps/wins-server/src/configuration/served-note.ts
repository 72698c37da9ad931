import { GUARDED_KEYS, type GuardedKey } from '@wins/base';
import {
  describeLosses,
  droppedKeys,
  loadConfig,
  permittedDrops,
  type GuardedParts,
  type LoadedConfig,
} from '@wins/config';
import { StateFile } from '@wins/files';
import type { FileTrust } from '@wins/trusted-files';
import path from 'node:path';
import { stateDirectoryOf } from '../kept-directory.js';
import { thisSystem } from '../this-system.js';

export interface ServedNote {
  readonly served: GuardedParts;
  /** Guarded keys that were lost at a start. Since then, they were neither restored nor accepted as lost. */
  readonly lost: readonly GuardedKey[];
  readonly lostAt?: string;
}

/** A config is at most 1 MiB long, so its whitelist fits into the note. */
const MAX_BYTES = 4 * 1024 * 1024;

/** A damaged note counts as absent. A note that others could write is refused. */
export function servedNote(
  listen: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
): StateFile<ServedNote> {
  return new StateFile({
    path: path.join(stateDirectoryOf(listen), 'served-config.json'),
    maxBytes: MAX_BYTES,
    trust,
    parse: noteOf,
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

export interface ConfigOfService {
  /** File that the service reads now; undefined without a service. */
  readonly before: string | undefined;
  readonly after: string;
  readonly allowDrop: readonly string[];
}

/**
 * Compares the new config file (`after`) with the current file (`before`) and with the config that the daemon last served. If the new
 * file lacks guarded keys of either, returns the reason to refuse it. Accepts an unreadable new file, because another check reports it.
 */
export async function refuseDrops(config: ConfigOfService): Promise<string | undefined> {
  const trust = (await thisSystem()).fileTrust();
  const load = (file: string) => loadConfig(file, { trust }).catch(() => undefined);
  const after = await load(config.after);
  if (after === undefined) return undefined;
  const before = config.before === undefined ? undefined : await load(config.before);
  const listen = (before ?? after).config.listen;
  const note = await servedNote(listen, trust)
    .read()
    .catch(() => undefined);
  const earlier = [before?.config, note?.served].filter((parts) => parts !== undefined);
  const missing = await Promise.all(
    earlier.map((parts) => missingKeys(parts, after, trust, config.allowDrop)),
  );
  const keys = [...new Set(missing.flat())];
  if (keys.length === 0) return undefined;
  const options = keys.map((key) => `--allow-drop ${key}`).join(' ');
  return `the config ${after.path} lacks ${describeLosses(keys)}, which the service has now. Restore it, or allow the loss with ${options}`;
}
