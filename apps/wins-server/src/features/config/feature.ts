import { configServiceDefinition } from '@wins/wins-api/contract';
import type { Feature, RunningFeature } from '../../kernel/feature.js';
import { runs } from '../runs/feature.js';
import { checkServed } from './check-served.js';
import { createConfigService } from './config-service.js';
import { followConfig, type FollowedConfig } from './follow-config.js';

export const config: Feature<object, FollowedConfig & RunningFeature<object>> = {
  name: 'config',
  stage: 'serves',
  purpose: 'follow the config',
  settings: () => ({}),
  start: (_settings, kernel, { changed }) => followConfig(kernel, changed),
  services: (view, kernel) => [
    {
      definition: configServiceDefinition,
      pipe: 'both',
      implement: (callers) =>
        createConfigService({
          ...{ callers, config: kernel.config, logger: kernel.logger },
          reload: (allowDrop) => view.require().reload(allowDrop),
          manager: () => kernel.of(runs).require().manager,
        }),
    },
  ],
  // Healthy while the daemon serves with the current config file.
  health: ({ running }) => ({ 'wins.ConfigService': running?.isGood ?? true }),
  doctor: [checkServed],
  metrics: (registry, view) => {
    const isRejected = () => view.running?.isGood === false;
    registry.read('wins_config_rejected', () => [[{}, isRejected() ? 1 : 0]]);
    return () => undefined;
  },
};
