import { describeLosses } from '@wins/base';
import { ConfigHistory, loadConfig, missingKeys } from '@wins/config';
import { thisSystem } from '../this-system.js';

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
  const trust = thisSystem().fileTrust();
  const load = (file: string) => loadConfig(file, { trust }).catch(() => undefined);
  const after = await load(config.after);
  if (after === undefined) return undefined;
  const current = config.before ?? config.after;
  const served = new ConfigHistory(current, trust).loadServed().catch(() => undefined);
  const earlier = [
    config.before === undefined ? undefined : await load(config.before),
    await served,
  ];
  const missing = await Promise.all(
    earlier
      .filter((loaded) => loaded !== undefined)
      .map((loaded) => missingKeys(loaded.config, after, trust, config.allowDrop)),
  );
  const keys = [...new Set(missing.flat())];
  if (keys.length === 0) return undefined;
  const options = keys.map((key) => `--allow-drop ${key}`).join(' ');
  return `the config ${after.path} lacks ${describeLosses(keys)}, which the service has now. Restore it, or allow the loss with ${options}`;
}
