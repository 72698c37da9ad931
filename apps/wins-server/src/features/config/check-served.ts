import { describeLosses, type GuardedKey } from '@wins/base';
import {
  ConfigHistory,
  missingKeys,
  type LoadedConfig,
  type ServedConfig,
  type WinsConfig,
} from '@wins/config';
import { problem, warning, type Reported } from '../../kernel/conditions/condition.js';
import type { Check, DoctorHost } from '../../kernel/doctor-host.js';
import { howToDrop } from './dropped-keys.js';

export interface ServedQuestions {
  /** Undefined if no daemon has stored a config. */
  servedConfig(known: LoadedConfig): Promise<ServedConfig | undefined>;
  missingKeys(before: WinsConfig, loaded: LoadedConfig): Promise<readonly GuardedKey[]>;
}

export function servedQuestions({ fileTrust }: DoctorHost): ServedQuestions {
  return {
    servedConfig: (known) => new ConfigHistory(known.path, fileTrust()).loadServed({ known }),
    missingKeys: (before, loaded) => missingKeys(before, loaded, fileTrust()),
  };
}

/**
 * Reports missing guarded keys (`GUARDED_KEYS`) of two kinds: keys that are in force but missing in the config file, and keys that were lost when
 * the daemon started.
 */
export const checkServed: Check<DoctorHost & ServedQuestions> = {
  name: 'config',
  needsConfig: true,
  look: async (host, loaded) => {
    const { path } = loaded;
    const served = await host.servedConfig(loaded);
    if (served === undefined) return [];
    const refused = await host.missingKeys(served.config, loaded);
    const findings: Reported[] = [];
    if (refused.length > 0) {
      const found = `${path} lacks keys that are in force. A running daemon refuses it, but the next start accepts it: ${describeLosses(refused)}`;
      findings.push(problem('config', 'configLacksKeys', found, advice(path, refused)));
    }
    const { keys, since = 'the daemon' } = served.lost;
    if (keys.length > 0) {
      const found = `since the start of ${since} the config lacks keys that were in force: ${describeLosses(keys)}`;
      findings.push(warning('config', 'configLostKeys', found, advice(path, keys)));
    }
    return findings;
  },
};

function advice(file: string, keys: Parameters<typeof howToDrop>[1]): string {
  return `put it back, or allow its removal: ${howToDrop(file, keys)}`;
}
