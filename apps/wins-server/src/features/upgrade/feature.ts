import { ProgramWatch, recordUpgrades, type UpgradeRecords } from '@wins/service-upgrade';
import { canonicalPath, localPath } from '@wins/base';
import {
  featureMetrics,
  type Feature,
  type Kernel,
  type RunningFeature,
} from '../../kernel/feature.js';
import { thisSystem } from '../../this-system.js';
import { counter } from '../../kernel/metrics.js';
import { upgradeChecks } from './checks.js';
import { loadUpgrader } from './upgrader.js';

export interface UpgradeSettings {
  /** The daemon is upgraded to the content of this file. Undefined: no file is watched. */
  readonly watched: string | undefined;
}

const EVENT = 'upgrade';
/** `other`: the upgrade's record names none of the first three. */
const UPGRADE_OUTCOMES = ['upgraded', 'rolledBack', 'failed', 'other'] as const;
const METRICS = {
  wins_upgrades_total: counter(
    'Ended upgrades of this service that the daemon found, by outcome.',
    { outcome: UPGRADE_OUTCOMES },
  ),
};

export const upgrade: Feature<UpgradeSettings, RunningFeature<UpgradeSettings>> = {
  ...upgradeChecks,
  name: 'upgrade',
  stage: 'works',
  purpose: 'watch for an upgrade',
  settings: ({ config: { upgrade: settings } }) => ({
    watched: settings.mode === 'watching' ? settings.watchingPath : undefined,
  }),
  start: (_settings, kernel) => {
    const records = followRecords(kernel);
    let watch: ProgramWatch | undefined;
    const end = async (): Promise<void> => {
      if (watch === undefined) return;
      await watch.close();
      watch = undefined;
      kernel.logger.info('upgrades by a watched file are off');
    };
    return {
      configure: async ({ watched }) => {
        await end();
        if (watched !== undefined) watch = watchFile(watched, kernel);
      },
      close: async () => {
        records?.close();
        await end();
      },
    };
  },
  metrics: featureMetrics(METRICS, (metrics) => (event) => {
    if (event.type !== 'kept' || event.event !== EVENT) return;
    const { outcome } = event.facts;
    metrics.count('wins_upgrades_total', {
      outcome: UPGRADE_OUTCOMES.find((known) => known === outcome) ?? 'other',
    });
  }),
};

function watchFile(written: string, kernel: Kernel): ProgramWatch | undefined {
  const { logger, service, audit, program: runningFile, checksum: runningSha1 } = kernel;
  const fields = { key: 'upgrade.watchingPath', file: written };
  if (service === undefined) {
    logger.warn(fields, 'no file is watched for an upgrade: this daemon is not a service');
    return undefined;
  }
  // The path is absolute here, because a config with any other path was refused.
  const file = localPath(written, process.platform) ?? canonicalPath(written);
  const guard = thisSystem().processHost();
  const parts = { file, guard, logger, service, audit, runningFile, runningSha1 };
  const watch = new ProgramWatch({ ...parts, upgrader: loadUpgrader });
  logger.info(fields, 'a file is watched for an upgrade');
  return watch;
}

function followRecords({
  upgradeRecords,
  logger,
  events,
  audit,
}: Kernel): UpgradeRecords | undefined {
  if (upgradeRecords === undefined) return undefined;
  return recordUpgrades(
    upgradeRecords,
    async (decision) => {
      await audit.decided(decision);
      const { outcome, reason } = decision;
      events.publish({ type: 'kept', event: EVENT, facts: { outcome, reason } });
    },
    logger,
  );
}
