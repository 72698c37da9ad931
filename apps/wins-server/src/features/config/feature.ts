import { commandWord, describeLosses, type GuardedKey } from '@wins/base';
import {
  ConfigHistory,
  missingKeys,
  type LoadedConfig,
  type ServedConfig,
  type WinsConfig,
} from '@wins/config';
import { configServiceDefinition } from '@wins/wins-api/contract';
import { asking, type Check, type DoctorHost } from '../../kernel/doctor-host.js';
import { problem, summary, warning, type Reported } from '../../kernel/conditions/condition.js';
import {
  service,
  type DaemonConfig,
  type Feature,
  type RunningFeature,
} from '../../kernel/feature.js';
import { runs } from '../runs/feature.js';
import { createConfigService } from './config-service.js';
import { howToDrop } from './dropped-keys.js';
import { followConfig, type FollowedConfig } from './follow-config.js';

interface ServedQuestions {
  /** Undefined if no daemon has stored a config. */
  servedConfig(file: string): Promise<ServedConfig | undefined>;
  missingKeys(before: WinsConfig, loaded: LoadedConfig): Promise<readonly GuardedKey[]>;
}

function servedQuestions({ fileTrust }: DoctorHost): ServedQuestions {
  return {
    servedConfig: (file) => new ConfigHistory(file, fileTrust()).loadServed(),
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
    const served = await host.servedConfig(path);
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

export const config: Feature<object, FollowedConfig & RunningFeature<object>> = {
  name: 'config',
  stage: 'serves',
  purpose: 'follow the config',
  settings: () => ({}),
  start: (_settings, kernel, { changed }) => followConfig(kernel, changed),
  services: (view, kernel) => [
    service(configServiceDefinition, 'both', (callers) =>
      createConfigService({
        callers,
        config: kernel.config,
        logger: kernel.logger,
        level: kernel.level,
        audit: kernel.audit,
        reload: (allowDrop) => view.require().reload(allowDrop),
        manager: () => kernel.of(runs).require().manager,
      }),
    ),
  ],
  conditions: ({ running }, kernel) => inForceConditions(running?.isGood ?? true, kernel.config),
  doctor: [asking(checkServed, servedQuestions)],
};

function inForceConditions(isGood: boolean, config: DaemonConfig): readonly Reported[] {
  const name = 'config in force';
  const inForce = config.inForce();
  const file = inForce.path;
  const keys = config.needRestart(inForce);
  const conditions: Reported[] = [];
  if (isGood) conditions.push(summary(name, `config ${file}`));
  else {
    const found = `the previous config: ${file} is unusable, or cannot be read`;
    // The command that reads the file itself tells what is wrong.
    const causes = ['configInvalid', 'configLacksKeys'];
    const advice = `correct the file: wins srv config check --config ${commandWord(file)}`;
    conditions.push(problem(name, 'configRejected', found, advice, { causes }));
  }
  if (keys.length > 0) {
    const found = `these keys take effect at the next start of the daemon: ${keys.join(', ')}`;
    conditions.push(warning(name, 'configNeedsRestart', found, 'restart the daemon'));
  }
  return conditions;
}
