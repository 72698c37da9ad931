// Longer than most files, because all the ways to finish or undo an interrupted upgrade belong together.
import { existsSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { errnoOf, messageOf } from '@wins/base';
import { UpgradeJournal, type UpgradeRecord } from '../journal/upgrade-journal.js';
import { findPaths, temporaryPath, type UpgradePaths } from '../journal/upgrade-paths.js';
import type { UpgradeOutcome, UpgradeResult } from '../journal/upgrade-result.js';
import type { ServiceCommand } from '../service/service-command.js';
import type { UpgradeStep } from '../journal/upgrade-phases.js';
import { UpgradeError } from '../upgrade-error.js';
import { finishUpgrade, INTERRUPTED, removeLeftovers } from './finish-upgrade.js';
import { ensurePrivateFolder, enterPrivateFolder } from './private-folder.js';
import { copyProgram, readProgram } from './read-program.js';
import type { ServiceStatus } from '../service/service-control.js';
import { nameOldProgram, noteUndoing, undoUpgrade } from './undo-upgrade.js';
import type { UpgradeContext } from './upgrade-context.js';
import { takeStep, type UpgradeRun } from './upgrade-steps.js';

export type Recoverer =
  | { readonly worker: 'helper' }
  | { readonly worker: 'daemon'; readonly runningFile: string; readonly serving: Promise<void> };

/** Outcome of the recovery of an interrupted upgrade. */
export interface RecoveredUpgrade {
  /** `none`: no upgrade was in progress. `busy`: a living helper continues it. */
  readonly outcome: UpgradeOutcome | 'none' | 'busy';
  readonly reason: string;
  /** True when this daemon must end with an exit code that makes the service manager start the right program. */
  readonly restart: boolean;
}

/**
 * Finishes or undoes an interrupted upgrade of the calling daemon. Does nothing while an upgrade helper runs. Call this first,
 * because it ensures that the next start runs a proven program. Do not await the result before serving: the recovery waits for `serving`.
 * @param serving - Resolves when this daemon serves; rejects when it will not.
 * @throws UpgradeError; the next start, or the next `wins up`, tries again.
 */
export async function recoverAtStart(
  context: UpgradeContext,
  serving: Promise<void>,
): Promise<RecoveredUpgrade> {
  const status = await context.service.query();
  if (status === undefined) return NONE;
  const paths = await findPaths(context.service, status);
  const folder = await lstat(paths.folder).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (folder?.isDirectory() !== true) return NONE;
  await using lock = await context.service.lock();
  if (lock === undefined)
    return { outcome: 'busy', reason: 'an upgrade is running', restart: false };
  await using _folder = await enterPrivateFolder(context, paths);
  const runningFile = await realpath(context.ownFile).catch(() => context.ownFile);
  const daemon = { worker: 'daemon', runningFile, serving } as const;
  return await recoverInterrupted(context, paths, daemon);
}

/** Finishes or undoes an interrupted upgrade. The caller holds the lock. @throws UpgradeError; the next upgrade tries again. */
export async function settleUpgrade(context: UpgradeContext): Promise<void> {
  const paths = await findPaths(context.service);
  if (!existsSync(paths.folder)) return;
  await ensurePrivateFolder(context, paths.folder);
  await recoverInterrupted(context, paths, { worker: 'helper' });
}

const NONE: RecoveredUpgrade = {
  outcome: 'none',
  reason: 'no upgrade was running',
  restart: false,
};

export async function recoverInterrupted(
  context: UpgradeContext,
  paths: UpgradePaths,
  who: Recoverer,
): Promise<RecoveredUpgrade> {
  const status = await context.service.query();
  const journal = new UpgradeJournal(paths, context.effects);
  const found = await journal.read();
  const isRedirected =
    status !== undefined && path.dirname(status.command.imagePath) === paths.folder;
  if (found === undefined && !isRedirected) {
    await removeLeftovers({ context, paths });
    return NONE;
  }
  context.log.write('an upgrade was interrupted', {
    journal: typeof found === 'object' ? found : (found ?? 'absent'),
  });
  const known = typeof found === 'object';
  const record = known ? found : await recordOfReality(context, paths, status);
  if (record === undefined) {
    await journal.end();
    await removeLeftovers({ context, paths });
    return NONE;
  }
  // After a loss of power, the service may name the staged program although no journal line says so.
  const disturbed = record.disturbed || isRedirected;
  const { worker } = who;
  const run: UpgradeRun = { context, paths, journal, worker, record: { ...record, disturbed } };
  if (!known) run.record = await journal.begin(record);
  return who.worker === 'helper' ? recoverAsHelper(run) : recoverAsDaemon(run, who);
}

async function recoverAsHelper(run: UpgradeRun): Promise<RecoveredUpgrade> {
  const { context, record } = run;
  if (await isInPlace(run)) return done(await goForward(run));
  if (!isTrial(record)) return done(await undoUpgrade(run, reasonOf(record)));
  await nameOldProgram(run);
  const status = await context.service.query();
  // The health check compares the daemon's version and SHA-1, not its arguments. If the upgrade changes only the arguments,
  // the old daemon would also pass this check. Such an upgrade is therefore undone.
  const canTell = record.from?.sha256 !== record.to.sha256;
  if (canTell && status !== undefined && status.state !== 'stopped') {
    try {
      await proceed(run, 'prove');
      return done(await commit(run));
    } catch (error) {
      if (await isInPlace(run)) throw error;
      context.log.write('the new daemon failed its health check', { found: messageOf(error) });
    }
  }
  return done(await undoUpgrade(run, INTERRUPTED));
}

async function recoverAsDaemon(
  run: UpgradeRun,
  { runningFile, serving }: Extract<Recoverer, { worker: 'daemon' }>,
): Promise<RecoveredUpgrade> {
  const { record, context } = run;
  if (await isInPlace(run)) {
    await serving;
    // A first installation had no trial, so prove the program now.
    if (record.phase === 'installing') await proceed(run, 'prove');
    return done(await goForward(run));
  }
  const onTrial = runningFile === record.staged;
  // Do this first, so that if this daemon fails, the next start runs the old program.
  await nameOldProgram(run);
  if (!isTrial(record) || !onTrial) {
    // Wait, because the result will state that the old daemon serves.
    if (!onTrial) await serving;
    return { ...(await undoUpgrade(run, reasonOf(record))), restart: onTrial };
  }
  try {
    await serving;
    await proceed(run, 'prove');
  } catch (error) {
    const reason = `after a restart the new daemon failed its health check: ${messageOf(error)}`;
    context.log.write('undoing', { reason });
    // The service manager next starts the old daemon, which completes the undoing.
    await noteUndoing(run, reason);
    return { outcome: 'rolledBack', reason, restart: true };
  }
  return done(await commit(run));
}

const done = (result: UpgradeResult): RecoveredUpgrade => ({ ...result, restart: false });
const reasonOf = (record: UpgradeRecord): string => record.reason ?? INTERRUPTED;
const isTrial = ({ phase }: UpgradeRecord): boolean => phase === 'trial' || phase === 'committing';

function proceed(run: UpgradeRun, step: UpgradeStep): Promise<void> {
  return takeStep(run, { step, phase: run.record.phase });
}

/** True when the target is already the new program. Then the upgrade can only be finished. */
async function isInPlace({ paths, record }: UpgradeRun): Promise<boolean> {
  if (record.phase !== 'committing' && record.phase !== 'installing') return false;
  return (await readProgram(paths.target))?.sha256 === record.to.sha256;
}

async function commit(run: UpgradeRun): Promise<UpgradeResult> {
  await takeStep(run, { step: 'replace', phase: 'committing' });
  return goForward(run);
}

async function goForward(run: UpgradeRun): Promise<UpgradeResult> {
  await proceed(run, 'register');
  if (run.worker === 'helper') {
    try {
      await proceed(run, 'start');
      await proceed(run, 'prove');
    } catch (error) {
      if (!(error instanceof UpgradeError)) throw error;
      if (run.record.phase === 'installing') return undoUpgrade(run, error.message);
      // This program was proven once, and its upgrade cannot be undone. Do not throw, because the next upgrade may be the fix.
      const reason = `an interrupted upgrade was finished, but ${error.message}`;
      return finishUpgrade(run, 'failed', reason);
    }
  }
  return finishUpgrade(run, 'upgraded', 'an interrupted upgrade was finished');
}

/** Builds a record from the files on disk, for a missing or unreadable journal. */
async function recordOfReality(
  context: UpgradeContext,
  paths: UpgradePaths,
  status: ServiceStatus | undefined,
): Promise<UpgradeRecord | undefined> {
  if (status === undefined) return undefined;
  const { imagePath, args } = status.command;
  const isRedirected = path.dirname(imagePath) === paths.folder;
  const oldCommand: ServiceCommand = { imagePath: isRedirected ? paths.target : imagePath, args };
  let from = await readProgram(paths.target);
  if (from === undefined && isRedirected) {
    // The old program is missing. Copy the only program left: the one in the command of the service.
    const temporary = temporaryPath(paths);
    from = await copyProgram(context.effects, 'redirected program', imagePath, temporary);
    await context.effects.move('redirected program', temporary, paths.target);
  }
  if (from === undefined) return undefined;
  const identity = { sha256: from.sha256, sha1: from.sha1 };
  const pipe = await context.pipeOf(args);
  return {
    phase: 'undoing',
    id: 'unknown',
    staged: isRedirected ? imagePath : '',
    from: identity,
    // The intended program is unknown, so use digests that no daemon has.
    to: { sha256: '0'.repeat(64), sha1: '0'.repeat(40) },
    oldCommand,
    newCommand: oldCommand,
    pipe,
    oldPipe: pipe,
    disturbed: true,
    reason: 'the journal of an upgrade is unreadable; the current program stays',
  };
}
