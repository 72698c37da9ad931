import { UpgradeJournal } from '../journal/upgrade-journal.js';
import { helperPath, temporaryPath, type UpgradePaths } from '../journal/upgrade-paths.js';
import type { UpgradeResult } from '../journal/upgrade-result.js';
import type { UpgradePlan, UpgradeRequest } from '../plan/plan-upgrade.js';
import { isRunnable } from '../plan/program-format.js';
import { UpgradeError } from '../upgrade-error.js';
import { removeLeftovers } from './finish-upgrade.js';
import { conclude, prepareUpgrade } from './prepare-upgrade.js';
import { copyProgram } from './read-program.js';
import type { UpgradeContext } from './upgrade-context.js';

/** Copy of a program that carries out an upgrade, and outlives the daemon. */
export interface Helper {
  readonly file: string;
  /** Releases that programs report, by SHA-256, so that the helper need not run them. */
  readonly knownVersions: ReadonlyMap<string, string>;
}

/**
 * Returns a helper to start, or the result of a plan without steps. The caller holds the lock until the helper runs,
 * because a clean-up removes a helper that is not running. @throws UpgradeError
 */
export async function handOver(
  context: UpgradeContext,
  paths: UpgradePaths,
  request: UpgradeRequest,
): Promise<Helper | UpgradeResult> {
  // Plan nothing while an interrupted upgrade is pending, because finishing it will change the state.
  if (await isPending(context, paths))
    return { file: await makeHelper(context, paths, context.ownFile), knownVersions: new Map() };
  await removeLeftovers({ context, paths });
  let isKept = false;
  try {
    const file = helperPath(paths);
    const prepared = await prepareUpgrade(context, paths, context.ownFile, request, file);
    const { plan, installed, offered } = prepared;
    if (plan.kind !== 'steps') return await conclude(context, paths, prepared, plan);
    isKept = true;
    const versions = [installed, offered].flatMap((program) =>
      program?.version === undefined ? [] : [[program.sha256, program.version] as const],
    );
    return { file, knownVersions: new Map(versions) };
  } finally {
    if (!isKept) await removeLeftovers({ context, paths });
  }
}

/**
 * Plans an upgrade for a dry run. In the result, `isPending` is true if an interrupted upgrade exists, which a real upgrade
 * would first finish or undo. Without an interrupted upgrade, also removes temporary files of this plan and of earlier upgrades.
 * The caller holds the lock.
 */
export async function planOnly(
  context: UpgradeContext,
  paths: UpgradePaths,
  program: string,
  request: UpgradeRequest,
): Promise<{ readonly plan: UpgradePlan; readonly isPending: boolean }> {
  const pending = await isPending(context, paths);
  try {
    const copy = temporaryPath(paths);
    const { plan } = await prepareUpgrade(context, paths, program, request, copy);
    return { plan, isPending: pending };
  } finally {
    await removeLeftovers({ context, paths });
  }
}

async function isPending({ effects }: UpgradeContext, paths: UpgradePaths): Promise<boolean> {
  return (await new UpgradeJournal(paths, effects).read()) !== undefined;
}

/**
 * Copies `program` to the path of the upgrade helper. If `wins up` itself is a run of the daemon, `program` is the verified
 * copy of that run. The helper must not execute this verified copy. Otherwise the daemon would end the helper as
 * a leftover of the run.
 * @throws UpgradeError `refused`; `fileFailed`.
 */
export async function makeHelper(
  { effects, host }: Pick<UpgradeContext, 'effects' | 'host'>,
  paths: UpgradePaths,
  program: string,
): Promise<string> {
  const helper = helperPath(paths);
  const { format } = await copyProgram(effects, 'helper', program, helper);
  if (!isRunnable(format, host.platform, host.arch)) {
    const message = `cannot start a helper from ${program}: it is not a standalone program`;
    throw new UpgradeError('refused', message);
  }
  return helper;
}
