import { messageOf } from '@wins/base';
import type { ProgramIdentity } from '../journal/upgrade-journal.js';
import type { UpgradeResult } from '../journal/upgrade-result.js';
import type { UpgradeStep } from '../journal/upgrade-phases.js';
import { UpgradeError } from '../upgrade-error.js';
import { finishUpgrade } from './finish-upgrade.js';
import { passHealthGate } from './health-gate.js';
import { readProgram } from './read-program.js';
import { takeStep, type UpgradeRun } from './upgrade-steps.js';

/** The old daemon gets at least this long to answer, because the node has no other daemon. */
const OLD_DAEMON_MS = 60_000;
const PROBE_MS = 2000;

/**
 * The outcome is `refused` when the service was not touched.
 * @throws UpgradeError if a part could not be restored; the journal stays, so that the next recovery tries again.
 */
export async function undoUpgrade(run: UpgradeRun, reason: string): Promise<UpgradeResult> {
  const { effects, log } = run.context;
  log.write('undoing', { reason });
  if (!run.record.disturbed) {
    run.record = { ...run.record, reason };
    // Discard the staged file first, because the result needs disk space.
    await effects.discard(run.record.staged);
    return finishUpgrade(run, 'refused', `${reason}; the service was not touched`);
  }
  await noteUndoing(run, reason);
  const { id, from, oldCommand, staged } = run.record;
  if (from === undefined || oldCommand === undefined) {
    if (run.worker === 'helper') return undoInstall(run, reason);
    // A daemon cannot remove its own service.
    return { id, outcome: 'failed', reason: `${reason}; "wins up" removes this service` };
  }
  await nameOldProgram(run);
  let outcome = 'the previous release serves again';
  if (run.worker === 'helper') {
    let failure = await restartOldDaemon(run, from);
    let fault = failure?.message ?? (await proveOld(run, from));
    const { configBefore } = run.record;
    const restored = fault && configBefore && (await run.context.configs?.restore(configBefore));
    if (restored !== undefined) {
      failure = await restartService(run);
      fault = failure?.message ?? (await proveOld(run, from));
      outcome = `${outcome}; ${restored}`;
    }
    if (failure !== undefined) throw failure;
    if (fault !== undefined) {
      const now = `the old program was restored and started, but ${fault}`;
      return finishUpgrade(run, 'failed', `${reason}; ${now}`);
    }
    await forgetReplacedConfigs(run);
  }
  await effects.discard(staged);
  return finishUpgrade(run, 'rolledBack', `${reason}; ${outcome}`);
}

/** Records the undoing. Ignores a write failure, because an upgrade is undone in the same way from any phase. */
export async function noteUndoing(run: UpgradeRun, reason: string): Promise<void> {
  try {
    run.record = await run.journal.move(run.record, 'undoing', { reason });
  } catch (error) {
    if (!(error instanceof UpgradeError) || error.code !== 'fileFailed') throw error;
    run.context.log.write('cannot record the undoing in the journal', { found: error.message });
    run.record = { ...run.record, phase: 'undoing', reason };
  }
}

export async function nameOldProgram(run: UpgradeRun): Promise<void> {
  if ((await run.context.service.query()) === undefined) return;
  await takeStep(run, { step: 'reclaim', phase: run.record.phase });
}

const goBack = (run: UpgradeRun, step: UpgradeStep) => takeStep(run, { step, phase: 'undoing' });

async function restartOldDaemon(run: UpgradeRun, { sha256, sha1 }: ProgramIdentity) {
  const { service, probe } = run.context;
  const status = await service.query();
  if (status === undefined)
    throw new UpgradeError('serviceFailed', `the service ${service.name} no longer exists`);
  // If both programs are equal, the hash in an answer does not show which one runs.
  if (status.state === 'running' && run.record.to.sha256 !== sha256) {
    if ((await probe(run.record.oldPipe, { timeoutMs: PROBE_MS }))?.sha1 === sha1) return undefined;
  }
  return restartService(run);
}

/** Resolves with the failure, if any: Windows reports one for a daemon that ends right after its start. */
async function restartService(run: UpgradeRun): Promise<UpgradeError | undefined> {
  await goBack(run, 'stop');
  try {
    await goBack(run, 'start');
    return undefined;
  } catch (error) {
    if (error instanceof UpgradeError && error.code === 'serviceFailed') return error;
    throw error;
  }
}

async function forgetReplacedConfigs({ context, record }: UpgradeRun): Promise<void> {
  if (record.configBefore === undefined) return;
  try {
    await context.configs?.forgetReplaced(record.configBefore.file);
  } catch (error) {
    context.log.write('cannot remove replaced configs', { found: messageOf(error) });
  }
}

async function proveOld({ context, record }: UpgradeRun, from: ProgramIdentity) {
  const { service, waitMs } = context;
  const { configBefore, oldPipe: pipe } = record;
  try {
    await passHealthGate({
      service,
      pipe,
      healthRequired: false,
      // `oldPipe` comes from the config file at the start of the upgrade. The old daemon may use another pipe, `configBefore.pipe`,
      // if it reads its stored copy of the config or the restored config.
      probe: async (asked, options) =>
        (await context.probe(asked, options)) ??
        (configBefore?.pipe === undefined || configBefore.pipe === asked
          ? undefined
          : context.probe(configBefore.pipe, options)),
      wanted: { sha256: from.sha256, sha1: from.sha1 },
      timeoutMs: Math.max(waitMs, OLD_DAEMON_MS),
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof UpgradeError) || error.code !== 'unhealthy') throw error;
    return error.message;
  }
}

async function undoInstall(run: UpgradeRun, reason: string): Promise<UpgradeResult> {
  const { context, paths, record } = run;
  const { service, effects } = context;
  if ((await service.query()) !== undefined) {
    await goBack(run, 'stop');
    if (record.oldCommand === undefined) await service.remove();
    else await goBack(run, 'reclaim');
  }
  if (record.oldCommand !== undefined)
    return finishUpgrade(run, 'rolledBack', `${reason}; the service is stopped, as before`);
  const isReplaced = (await readProgram(paths.target))?.sha256 === record.to.sha256;
  // Remove the program last, so that the service never names a missing file. A program that was there before has no copy, so its successor stays.
  if (isReplaced && record.from === undefined) await effects.remove('new program', paths.target);
  const stays =
    isReplaced && record.from !== undefined ? `; ${paths.target} is the offered program` : '';
  return finishUpgrade(run, 'rolledBack', `${reason}; there is no service, as before${stays}`);
}
