import path from 'node:path';
import { UpgradeJournal } from '../journal/upgrade-journal.js';
import { helpersIn, type UpgradePaths } from '../journal/upgrade-paths.js';
import { latestResult, type UpgradeResult } from '../journal/upgrade-result.js';
import { namedUpgrader } from './private-folder.js';
import type { UpgradeContext } from './upgrade-context.js';

/**
 * `running`: a helper, or a daemon that recovers the upgrade, will write a result. `interrupted`: the helper was killed, and the journal remains.
 * `none`: no process and no journal of an upgrade is left.
 */
export interface UpgradeProgress {
  readonly id: string;
  readonly outcome: 'running' | 'interrupted' | 'none';
  readonly reason: string;
}

/** Returns the result of the upgrade `id`, or the state of the upgrade if it has no result. Changes nothing and takes no lock. */
export async function findProgress(
  { effects, host }: Pick<UpgradeContext, 'effects' | 'host'>,
  paths: UpgradePaths,
  id: string,
): Promise<UpgradeResult | UpgradeProgress> {
  // Look for processes first, because they write the result before they end.
  const isRunning = await hasWorker({ effects, host }, paths);
  const result = await latestResult(paths);
  if (result?.id === id) return result;
  if (isRunning) return { id, outcome: 'running', reason: 'an upgrade of the service is running' };
  const journal = await new UpgradeJournal(paths, effects).read();
  if (journal === undefined) {
    const reason =
      'the upgrade helper ended without a result, and no upgrade is pending. Upgrade again';
    return { id, outcome: 'none', reason };
  }
  const phase =
    journal === 'unreadable' ? 'whose journal is unreadable' : `in phase ${journal.phase}`;
  const reason = `the upgrade helper was killed during an upgrade ${phase}. Restart the service or upgrade again: both finish or undo that upgrade`;
  return { id, outcome: 'interrupted', reason };
}

/** A helper starts before the upgrader that it continues for removes its record. Therefore the record is read first. */
async function hasWorker(
  { effects, host }: Pick<UpgradeContext, 'effects' | 'host'>,
  paths: UpgradePaths,
): Promise<boolean> {
  const upgrader = await namedUpgrader(paths.folder, host.trust);
  if (upgrader !== undefined && host.isAlive(upgrader)) return true;
  const helpers = await helpersIn(paths).catch(() => []);
  const holders = helpers.map((name) => effects.holdersOf(path.join(paths.folder, name)));
  return (await Promise.all(holders)).flat().length > 0;
}
