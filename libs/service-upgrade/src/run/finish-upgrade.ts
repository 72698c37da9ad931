import { existsSync } from 'node:fs';
import { messageOf } from '@wins/base';
import { untakenRecords, upgraderIn, type UpgradePaths } from '../journal/upgrade-paths.js';
import {
  recordResult,
  writeResult,
  type UpgradeOutcome,
  type UpgradeResult,
} from '../journal/upgrade-result.js';
import { releaseOf } from './prepare-upgrade.js';
import type { UpgradeContext } from './upgrade-context.js';
import type { UpgradeRun } from './upgrade-steps.js';

/** Reason to report when an upgrade recorded no reason, because its helper was killed or the node lost power. */
export const INTERRUPTED = 'the upgrade was interrupted before the health check of the new daemon';

export async function finishUpgrade(run: UpgradeRun, outcome: UpgradeOutcome, reason: string) {
  const { context, paths, journal, record, configWarnings } = run;
  const { id, from, to, oldCommand, newCommand, askedBy, attempt } = record;
  const result: UpgradeResult = {
    id,
    outcome,
    reason,
    from: from && releaseOf(from),
    to: releaseOf(to),
    target: paths.target,
    log: paths.log,
    configWarnings,
    askedBy,
    attempt,
    interrupted: record.reason === INTERRUPTED ? true : undefined,
    serviceArgs: {
      before: oldCommand?.args,
      after: (record.phase === 'undoing' ? oldCommand : newCommand)?.args ?? [],
    },
  };
  // Write the audit record first. After a crash, the recovery writes it to the same path again.
  if (record.disturbed) await recordResult(context, paths, result);
  await writeResult(context.effects, paths, result);
  await journal.end();
  context.log.write('finished', { outcome, reason });
  // Sweep even if the journal still exists: on Windows a removed file stays visible until its last reader closes it.
  await sweepFolder(context, paths);
  return result;
}

/** Removes leftovers of earlier upgrades, unless an upgrade must still be undone. A failure only costs disk space. */
export async function removeLeftovers({
  context,
  paths,
}: {
  readonly context: UpgradeContext;
  readonly paths: UpgradePaths;
}): Promise<void> {
  if (!existsSync(paths.journal)) await sweepFolder(context, paths);
}

async function sweepFolder(context: UpgradeContext, paths: UpgradePaths): Promise<void> {
  try {
    const named = (await context.service.query())?.command.imagePath ?? paths.target;
    const { folder, result, log, lock } = paths;
    const kept = [result, log, lock, upgraderIn(folder), context.ownFile, named];
    await context.effects.sweep(folder, [...kept, ...(await untakenRecords(paths))]);
  } catch (error) {
    context.log.write('cannot remove leftovers', { found: messageOf(error) });
  }
}
