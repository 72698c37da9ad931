import { UpgradeJournal } from '../journal/upgrade-journal.js';
import { helperPath, temporaryPath, type UpgradePlaces } from '../journal/upgrade-places.js';
import type { UpgradeResult } from '../journal/upgrade-result.js';
import type { UpgradePlan, UpgradeWish } from '../plan/plan-upgrade.js';
import { isRunnable } from '../plan/program-format.js';
import { UpgradeError } from '../upgrade-error.js';
import { removeLeftovers } from './finish-upgrade.js';
import { conclude, prepareUpgrade } from './prepare-upgrade.js';
import { copyProgram } from './read-program.js';
import type { UpgradeContext } from './upgrade-context.js';

export interface Helper {
  readonly file: string;
  readonly knownVersions: ReadonlyMap<string, string>;
}

/**
 * Returns a helper to start, or the result of a plan without steps. The caller holds the lock until the helper runs,
 * because a clean-up removes a helper that is not running. @throws UpgradeError
 */
export async function handOver(
  context: UpgradeContext,
  places: UpgradePlaces,
  wish: UpgradeWish,
): Promise<Helper | UpgradeResult> {
  // Plan nothing while an interrupted upgrade is pending, because finishing it will change the state.
  if (await isPending(context, places))
    return { file: await makeHelper(context, places, context.ownFile), knownVersions: new Map() };
  await removeLeftovers({ context, places });
  let isKept = false;
  try {
    const file = helperPath(places);
    const prepared = await prepareUpgrade(context, places, context.ownFile, wish, file);
    const { plan, installed, offered } = prepared;
    if (plan.kind !== 'steps') return await conclude(context, places, prepared, plan);
    isKept = true;
    const versions = [installed, offered].flatMap((program) =>
      program?.version === undefined ? [] : [[program.sha256, program.version] as const],
    );
    return { file, knownVersions: new Map(versions) };
  } finally {
    if (!isKept) await removeLeftovers({ context, places });
  }
}

/**
 * Plans an upgrade for a dry run. In the result, `isPending` is true if an interrupted upgrade exists, which a real upgrade
 * would first finish or undo. Without an interrupted upgrade, also removes temporary files of this plan and of earlier upgrades.
 * The caller holds the lock.
 */
export async function planOnly(
  context: UpgradeContext,
  places: UpgradePlaces,
  program: string,
  wish: UpgradeWish,
): Promise<{ readonly plan: UpgradePlan; readonly isPending: boolean }> {
  const pending = await isPending(context, places);
  try {
    const copy = temporaryPath(places);
    const { plan } = await prepareUpgrade(context, places, program, wish, copy);
    return { plan, isPending: pending };
  } finally {
    await removeLeftovers({ context, places });
  }
}

async function isPending({ effects }: UpgradeContext, places: UpgradePlaces): Promise<boolean> {
  return (await new UpgradeJournal(places, effects).read()) !== undefined;
}

/**
 * Copies `program` to the path of the upgrade helper. If `wins up` itself is a run of the daemon, `program` is the verified
 * copy of that run. The helper must not execute this verified copy. Otherwise the daemon would end the helper as
 * a leftover of the run.
 * @throws UpgradeError `refused`; `fileFailed`.
 */
export async function makeHelper(
  { effects, host }: Pick<UpgradeContext, 'effects' | 'host'>,
  places: UpgradePlaces,
  program: string,
): Promise<string> {
  const helper = helperPath(places);
  const { format } = await copyProgram(effects, 'helper', program, helper);
  if (!isRunnable(format, host.platform, host.arch)) {
    const message = `cannot start a helper from ${program}: it is not a standalone program`;
    throw new UpgradeError('refused', message);
  }
  return helper;
}
