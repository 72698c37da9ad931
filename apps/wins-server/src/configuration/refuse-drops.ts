import { describeLosses, loadConfig } from '@wins/config';
import { thisSystem } from '../this-system.js';
import { missingKeys, servedNote } from './served-note.js';

export interface ConfigOfService {
  /** File that the service reads now; undefined without a service. */
  readonly before: string | undefined;
  readonly after: string;
  readonly allowDrop: readonly string[];
}

/**
 * Names guarded keys that a new config of the service lacks, compared with its file and with the served config. Undefined when none is
 * missing, or when a config cannot be read, which another check reports.
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
