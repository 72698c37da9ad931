import { canonicalPath, localPath } from '@wins/base';
import type { LoadedConfig } from '@wins/config';
import type { UpgradeResult } from '@wins/service-upgrade';
import type { Check, DoctorHost } from '../../kernel/doctor-host.js';
import { ok, problem, summary, warning, type Reported } from '../../kernel/conditions/condition.js';
import { loadUpgrader, upgradeSystem } from './upgrader.js';

export interface UpgradeQuestions {
  latestUpgrade(): Promise<UpgradeResult | undefined>;
  upgradeUnderWay(): Promise<string | undefined>;
}

export function upgradeQuestions(): UpgradeQuestions {
  const nothing = () => Promise.resolve(undefined);
  if (!upgradeSystem.hasServices) return { latestUpgrade: nothing, upgradeUnderWay: nothing };
  return {
    latestUpgrade: () => loadUpgrader().latestUpgrade(),
    upgradeUnderWay: () => loadUpgrader().upgradeUnderWay(),
  };
}

export const checkUpgrade: Check<DoctorHost & UpgradeQuestions> = {
  name: 'upgrade',
  look: async (host, loaded) => {
    const { upgrade } = loaded.config;
    return [
      ...(upgrade.mode === 'watching' ? [await judgeWatched(upgrade.watchingPath, host)] : []),
      ...(await judgeUpgrades(host, loaded)),
    ];
  },
};

async function judgeUpgrades(
  host: UpgradeQuestions,
  { config }: Pick<LoadedConfig, 'config'>,
): Promise<readonly Reported[]> {
  const phase = await host.upgradeUnderWay();
  const isWatched = config.upgrade.mode === 'watching';
  if (phase === undefined) return reportUpgrade(await host.latestUpgrade(), isWatched);
  const found = `an upgrade is running or was interrupted, in phase ${phase}`;
  const advice =
    'if no "wins up" runs, start the service or run "wins up" again: both finish it or roll it back';
  return [warning('upgrade', 'upgradeUnfinished', found, advice)];
}

async function judgeWatched(written: string, host: DoctorHost): Promise<Reported> {
  // The path is absolute here, because a config with any other path was refused.
  const path = localPath(written, process.platform) ?? canonicalPath(written);
  const judgement = await host.judgeWatchedFile(path);
  if (judgement.kind === 'trusted')
    return ok('upgrade', `${path} is watched: the daemon is upgraded to what is there`);
  if (judgement.kind === 'missing') return ok('upgrade', `${path} is watched, and does not exist`);
  const advice =
    'make it, its folder and those above writable by administrators only: the daemon refuses it';
  return problem('upgrade', 'watchedFileUntrusted', judgement.message, advice);
}

function reportUpgrade(latest: UpgradeResult | undefined, isWatched: boolean): readonly Reported[] {
  if (latest === undefined) return [];
  const { outcome, reason, to } = latest;
  const target = to?.version === undefined ? '' : ` to ${to.version}`;
  const found = `the latest upgrade${target}: ${outcome}: ${reason}`;
  // A refused manual upgrade was already reported to its user; a refused upgrade from a watched file was not.
  if (outcome === 'upgraded' || outcome === 'nothing' || (outcome === 'refused' && !isWatched))
    return [summary('upgrade', found)];
  const advice =
    outcome === 'failed'
      ? 'run "wins up" again: it first finishes or rolls back the failed upgrade'
      : 'put another program there; only "wins up --path" retries the same one';
  return [
    outcome === 'failed'
      ? problem('upgrade', 'upgradeFailed', found, advice)
      : warning('upgrade', 'upgradeUndone', found, advice),
  ];
}
