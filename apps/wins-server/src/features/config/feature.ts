import { commandWord } from '@wins/base';
import { configServiceDefinition } from '@wins/wins-api/contract';
import { problem, summary, warning, type Reported } from '../../kernel/conditions/condition.js';
import {
  service,
  type DaemonConfig,
  type Feature,
  type RunningFeature,
} from '../../kernel/feature.js';
import { runs } from '../runs/feature.js';
import { configChecks } from './checks.js';
import { createConfigService } from './config-service.js';
import { followConfig, type FollowedConfig } from './follow-config.js';

export const config: Feature<object, FollowedConfig & RunningFeature<object>> = {
  ...configChecks,
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
