import { existsSync } from 'node:fs';
import { discard, remove, sweep } from '../journal/durable-files.js';
import { passHealthGate } from './health-gate.js';
import { readProgram } from './program-identity.js';
import { isSameCommand } from '../plan/service-command.js';
import { recordResult, untakenRecords } from '../journal/record-result.js';
import { messageOf, UpgradeError } from '../upgrade-error.js';
import type { ProgramIdentity } from '../journal/upgrade-journal.js';
import { writeResult, type UpgradeOutcome, type UpgradeResult } from '../journal/upgrade-result.js';
import type { UpgradeRun } from './upgrade-steps.js';

/** Why an upgrade is undone that found nothing wrong, but whose helper was killed or whose power failed. */
export const INTERRUPTED = 'the upgrade was interrupted before its new daemon was proven';

/** The least time in which what served before may come back: it is all that the node has, and giving up early mends nothing. */
const OLD_DAEMON_MS = 60_000;

/** Who works: the helper, which starts and stops the service, or the daemon of that service itself. */
export type Worker = 'helper' | 'daemon';

/**
 * Puts back what was before. The journal stays when that does not succeed, so that it is tried again.
 *
 * @returns What came of it: `refused` when the service had not been touched yet.
 * @throws UpgradeError when something could not be put back.
 */
export async function undoUpgrade(
  run: UpgradeRun,
  reason: string,
  worker: Worker,
): Promise<UpgradeResult> {
  const { context } = run;
  context.log.write('undoing', { reason });
  if (!run.record.disturbed) {
    run.record = { ...run.record, reason };
    // On a full disk, its place is what the result needs.
    await discard(context.effects, run.record.staged);
    return finish(run, 'refused', `${reason}; the service was not touched`);
  }
  await noteUndoing(run, reason);
  const { from, oldCommand } = run.record;
  if (from === undefined || oldCommand === undefined) {
    if (worker === 'helper') return undoInstall(run, reason);
    // A daemon cannot remove its own service.
    const { id } = run.record;
    return { id, outcome: 'failed', reason: `${reason}; wins up removes this service again` };
  }

  await nameOldProgram(run);
  if (worker === 'helper') {
    await runOldDaemon(run, from);
    try {
      await proveOld(run, from);
    } catch (error) {
      if (!(error instanceof UpgradeError) || error.code !== 'unhealthy') throw error;
      const now = `the old program is in place and was started again, but ${error.message}`;
      return finish(run, 'failed', `${reason}; ${now}`);
    }
  }
  await discard(context.effects, run.record.staged);
  return finish(run, 'rolledBack', `${reason}; the release before serves again`);
}

/** Lets the journal say that all is put back. Where it cannot be written, that is done nevertheless: each phase is undone alike. */
export async function noteUndoing(run: UpgradeRun, reason: string): Promise<void> {
  try {
    run.record = await run.journal.move(run.record, 'undoing', { reason });
  } catch (error) {
    if (!(error instanceof UpgradeError) || error.code !== 'fileFailed') throw error;
    run.context.log.write('the journal does not say so', { found: error.message });
    run.record = { ...run.record, phase: 'undoing', reason };
  }
}

/** Lets the service name what it named before. */
export async function nameOldProgram({ context, record }: UpgradeRun): Promise<void> {
  const { oldCommand } = record;
  const status = await context.service.query();
  if (oldCommand === undefined || status === undefined) return;
  if (!isSameCommand(status.command, oldCommand)) await context.service.setCommand(oldCommand);
}

async function runOldDaemon(run: UpgradeRun, from: ProgramIdentity): Promise<void> {
  const { service, probe, waitMs } = run.context;
  const status = await service.query();
  if (status === undefined) {
    throw new UpgradeError('serviceFailed', `the service ${service.name} is gone`);
  }
  if (status.state !== 'stopped') {
    // One and the same program with other arguments cannot be told apart by asking it.
    const answer =
      run.record.to.sha256 === from.sha256 ? undefined : await probe(run.record.oldPipe, 2000);
    if (answer?.sha1 === from.sha1 && status.state === 'running') return;
    await service.stop(waitMs);
  }
  await service.start();
}

function proveOld({ context, record }: UpgradeRun, from: ProgramIdentity): Promise<void> {
  return passHealthGate({
    probe: context.probe,
    service: context.service,
    pipe: record.oldPipe,
    wanted: { sha256: from.sha256, sha1: from.sha1 },
    limitMs: Math.max(context.waitMs, OLD_DAEMON_MS),
    healthRequired: false,
  });
}

/** There was no daemon before, so there is none afterwards. */
async function undoInstall(run: UpgradeRun, reason: string): Promise<UpgradeResult> {
  const { context, places, record } = run;
  const { service, effects } = context;
  if ((await service.query()) !== undefined) {
    await service.stop(context.waitMs);
    if (record.oldCommand === undefined) await service.remove();
    else await service.setCommand(record.oldCommand);
  }
  // Last: the service never names what is not there.
  const mayRemove = record.oldCommand === undefined;
  if (mayRemove && (await readProgram(places.target))?.sha256 === record.to.sha256) {
    await remove(effects, 'new program', places.target);
  }
  const before = mayRemove
    ? 'there is no service, as before'
    : 'the service does not run, as before';
  return finish(run, 'rolledBack', `${reason}; ${before}`);
}

/** Tells what came of it, and leaves nothing else behind. */
export async function finish(
  run: UpgradeRun,
  outcome: UpgradeOutcome,
  reason: string,
): Promise<UpgradeResult> {
  const { context, places, journal, record } = run;
  const result: UpgradeResult = {
    id: record.id,
    outcome,
    reason,
    ...(record.from && { from: brief(record.from) }),
    to: brief(record.to),
    target: places.target,
    log: places.log,
    ...(record.reason === INTERRUPTED && { interrupted: true }),
    serviceArgs: {
      ...(record.oldCommand && { before: record.oldCommand.args }),
      after: (record.phase === 'undoing' ? record.oldCommand : record.newCommand)?.args ?? [],
    },
    ...(record.askedBy !== undefined && { askedBy: record.askedBy }),
  };
  // First: what is done twice is recorded in the same place.
  if (record.disturbed) await recordResult(context, places, result);
  await writeResult(context.effects, places, result);
  await journal.end();
  context.log.write('finished', { outcome, reason });
  await tidy(run);
  return result;
}

/** Removes what is left of earlier upgrades, unless one is still to be undone. A failure costs disk space, no more. */
export async function tidy({
  context,
  places,
}: Pick<UpgradeRun, 'context' | 'places'>): Promise<void> {
  try {
    if (existsSync(places.journal)) return;
    const named = (await context.service.query())?.command.imagePath ?? places.target;
    const kept = [places.result, places.log, places.lock, context.ownFile, named];
    kept.push(...(await untakenRecords(places)));
    await sweep(context.effects, places.folder, kept);
  } catch (error) {
    context.log.write('leftovers stay', { found: messageOf(error) });
  }
}

function brief({ sha256, version }: ProgramIdentity): { sha256: string; version?: string } {
  return { sha256, ...(version !== undefined && { version }) };
}
