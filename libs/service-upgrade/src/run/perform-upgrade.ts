import { messageOf } from '@wins/base';
import { UpgradeJournal, type ProgramIdentity } from '../journal/upgrade-journal.js';
import { stagedPaths, temporaryPath, type UpgradePaths } from '../journal/upgrade-paths.js';
import type { UpgradeResult } from '../journal/upgrade-result.js';
import type { UpgradePlan, UpgradeRequest } from '../plan/plan-upgrade.js';
import type { UpgradeStep } from '../journal/upgrade-phases.js';
import { UpgradeError } from '../upgrade-error.js';
import { finishUpgrade, removeLeftovers } from './finish-upgrade.js';
import { conclude, prepareUpgrade, type PreparedUpgrade } from './prepare-upgrade.js';
import { readProgram } from './read-program.js';
import { recoverInterrupted } from './recover-upgrade.js';
import { undoUpgrade } from './undo-upgrade.js';
import type { UpgradeContext } from './upgrade-context.js';
import { takeStep, type UpgradeRun } from './upgrade-steps.js';

/** Upgrades the service, or restores its previous state. The caller holds the lock. @throws UpgradeError if neither succeeds. */
export async function performUpgrade(
  context: UpgradeContext,
  paths: UpgradePaths,
  program: string,
  request: UpgradeRequest,
): Promise<UpgradeResult> {
  await recoverInterrupted(context, paths, { worker: 'helper' });
  try {
    const copy = temporaryPath(paths);
    const prepared = await prepareUpgrade(context, paths, program, request, copy);
    const { plan } = prepared;
    context.log.write('plan', { plan });
    if (plan.kind === 'steps') return await execute(context, paths, prepared, plan);
    return await conclude(context, paths, prepared, plan);
  } finally {
    await removeLeftovers({ context, paths });
  }
}

async function execute(
  context: UpgradeContext,
  paths: UpgradePaths,
  { status, installed, offered, copy }: PreparedUpgrade,
  plan: Extract<UpgradePlan, { kind: 'steps' }>,
): Promise<UpgradeResult> {
  const { id, askedBy, attempt, effects, pipeOf } = context;
  const journal = new UpgradeJournal(paths, effects);
  const pipe = await pipeOf(plan.command.args);
  const configBefore = status && (await context.configs?.save(status));
  const record = await journal.begin({
    phase: 'staging',
    id,
    disturbed: false,
    from: installed,
    to: offered,
    configBefore,
    pipe,
    oldCommand: status?.command,
    newCommand: plan.command,
    askedBy,
    attempt,
    staged: await chooseStagedPath(context, paths, offered),
    // If the old config is unreadable, the new daemon's pipe is assumed.
    oldPipe: await pipeOf(status?.command.args ?? []).catch(() => pipe),
  });
  const run: UpgradeRun = { context, paths, journal, worker: 'helper', copy, record };
  let last: UpgradeStep = 'stage';
  try {
    for (const planned of plan.steps) {
      last = planned.step;
      await takeStep(run, planned);
    }
  } catch (error) {
    const reason = `step ${last} failed: ${messageOf(error)}`;
    const isReplaced =
      run.record.phase === 'committing' &&
      (last === 'register' || (await readProgram(paths.target))?.sha256 === run.record.to.sha256);
    if (!isReplaced) return undoUpgrade(run, reason);
    // The new program passed its trial and is in place. The next upgrade, or the next start of the daemon, does the rest.
    throw new UpgradeError('serviceFailed', `${reason}; the new release serves`, { cause: error });
  }
  return finishUpgrade(run, 'upgraded', `the release ${offered.version ?? ''} serves`);
}

/** If every name is held, returns the first. The step `stage` then waits for it, and its error names the processes that hold it. */
async function chooseStagedPath(
  { effects, log }: UpgradeContext,
  paths: UpgradePaths,
  { version = '', sha256 }: ProgramIdentity,
): Promise<string> {
  const files = stagedPaths(paths, version, sha256);
  for (const file of files) {
    if (await effects.vacate(file)) return file;
    const holders = await effects.holdersOf(file);
    log.write('cannot remove a leftover, so the new program gets another name', { file, holders });
  }
  return files[0];
}
