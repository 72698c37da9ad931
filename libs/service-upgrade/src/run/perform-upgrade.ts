import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { passHealthGate } from './health-gate.js';
import {
  planUpgrade,
  refuseProgram,
  type UpgradePlan,
  type UpgradeStep,
  type UpgradeWish,
} from '../plan/plan-upgrade.js';
import { askVersion, copyProgram, makeRunnable, readProgram } from './program-identity.js';
import { recoverInterrupted } from './recover-upgrade.js';
import type { ServiceStatus, UpgradeLock } from './service-control.js';
import { finish, tidy, undoUpgrade } from './undo-upgrade.js';
import type { UpgradeContext } from './upgrade-context.js';
import { messageOf, UpgradeError } from '../upgrade-error.js';
import { UpgradeJournal, type ProgramIdentity } from '../journal/upgrade-journal.js';
import { stagedPath, targetOf, temporaryPath, upgradePlaces } from '../journal/upgrade-places.js';
import type { UpgradePlaces } from '../journal/upgrade-places.js';
import { writeResult, type UpgradeResult } from '../journal/upgrade-result.js';
import { takeStep, type UpgradeRun } from './upgrade-steps.js';

const LOCK_LIMIT_MS = 2000;
const LOCK_DELAY_MS = 100;

/** An upgrade that is prepared: nothing but the copy of the offered program was made. */
export interface PreparedUpgrade {
  readonly plan: UpgradePlan;
  readonly status: ServiceStatus | undefined;
  readonly installed: ProgramIdentity | undefined;
  readonly offered: ProgramIdentity;
  /** The private copy of the offered program. */
  readonly temporary: string;
}

/** Finds where the program of the service is. */
export async function findPlaces(
  context: Pick<UpgradeContext, 'service'>,
  status: ServiceStatus | undefined,
): Promise<UpgradePlaces> {
  const named =
    status === undefined ? context.service.defaultTarget : targetOf(status.command.imagePath);
  if (!path.isAbsolute(named)) {
    throw new UpgradeError('refused', `the service names ${named}; wanted an absolute path`);
  }
  // The folder must exist; the program itself may not.
  return upgradePlaces(
    await realpath(named).catch(async () =>
      path.join(
        await realpath(path.dirname(named)).catch(() => path.dirname(named)),
        path.basename(named),
      ),
    ),
  );
}

/**
 * Takes the lock of the service for the time of a task. One that is held for a moment, by a daemon that has just started, is
 * waited for.
 *
 * @param limitMs - How long, in milliseconds. Default 2000.
 * @throws UpgradeError `busy`.
 */
export async function withLock<T>(
  context: UpgradeContext,
  task: () => Promise<T>,
  limitMs = LOCK_LIMIT_MS,
): Promise<T> {
  const end = performance.now() + limitMs;
  let lock: UpgradeLock | undefined;
  while ((lock = await context.service.lock()) === undefined) {
    if (performance.now() >= end) {
      throw new UpgradeError(
        'busy',
        `cannot upgrade the service ${context.service.name}: another upgrade of it is under way`,
      );
    }
    await delay(LOCK_DELAY_MS);
  }
  try {
    return await task();
  } finally {
    await lock.close();
  }
}

/**
 * Finds out what is there and what is offered, and decides. The caller holds the lock, and removes the copy.
 *
 * @throws UpgradeError
 */
export async function prepareUpgrade(
  context: UpgradeContext,
  places: UpgradePlaces,
  program: string,
  wish: UpgradeWish,
): Promise<PreparedUpgrade> {
  const { host, effects, runMs } = context;
  const status = await context.service.query();
  const temporary = temporaryPath(places);
  const content = await copyProgram(effects, 'offered program', program, temporary);
  const refusal = refuseProgram(content, host, wish);
  const offered: ProgramIdentity = { sha256: content.sha256, sha1: content.sha1 };
  if (refusal !== undefined) {
    const plan = { kind: 'refusal', reason: refusal } as const;
    return { plan, status, installed: undefined, offered, temporary };
  }
  await makeRunnable(effects, temporary);
  const release = { ...offered, ...versionField(await askVersion(temporary, runMs)) };
  const there = await readProgram(places.target);
  const installed = there && {
    ...{ sha256: there.sha256, sha1: there.sha1 },
    // A broken program is replaced like any other.
    ...versionField(await askVersion(places.target, runMs).catch(() => undefined)),
  };
  const isServing =
    status?.state === 'running' &&
    installed?.sha256 === release.sha256 &&
    (await serves(context, status, installed));
  const plan = planUpgrade({
    ...{ isServing, platform: host.platform, arch: host.arch, target: places.target },
    defaultConfig: context.defaultConfig,
    ...{ service: status, installed, offered: release, wish },
    holdsTarget:
      host.platform === 'win32' && context.ownFile.toLowerCase() === places.target.toLowerCase(),
  });
  return { plan, status, installed, offered: release, temporary };
}

/** Whether the daemon of a running service is well; one that has just been started gets its time. */
async function serves(
  context: UpgradeContext,
  { command }: ServiceStatus,
  wanted: ProgramIdentity,
): Promise<boolean> {
  try {
    await passHealthGate({
      ...{ probe: context.probe, service: context.service, wanted, limitMs: context.waitMs },
      pipe: await context.pipeOf(command.args),
      healthRequired: false,
    });
    return true;
  } catch (error) {
    if (error instanceof UpgradeError && error.code === 'unhealthy') return false;
    throw error;
  }
}

function versionField(version: string | undefined): { version?: string } {
  return version === undefined ? {} : { version };
}

/**
 * Upgrades the service, or leaves it as it was. The caller holds the lock.
 *
 * @param program - The file that is offered.
 * @throws UpgradeError when it could neither be finished nor undone.
 */
export async function performUpgrade(
  context: UpgradeContext,
  places: UpgradePlaces,
  program: string,
  wish: UpgradeWish,
): Promise<UpgradeResult> {
  const { log } = context;
  await recoverInterrupted(context, places, await context.service.query(), { worker: 'helper' });
  try {
    const prepared = await prepareUpgrade(context, places, program, wish);
    const { plan } = prepared;
    log.write('plan', { plan });
    if (plan.kind === 'steps') return await execute(context, places, prepared, plan);
    return await conclude(context, places, prepared, plan);
  } finally {
    await tidy({ context, places });
  }
}

/** Tells what came of an upgrade that takes no steps. */
export async function conclude(
  context: UpgradeContext,
  places: UpgradePlaces,
  { installed, offered }: PreparedUpgrade,
  plan: Exclude<UpgradePlan, { kind: 'steps' }>,
): Promise<UpgradeResult> {
  const brief = ({ sha256, version }: ProgramIdentity) => ({ sha256, ...versionField(version) });
  const result: UpgradeResult = {
    id: context.id,
    outcome: plan.kind === 'refusal' ? 'refused' : 'nothing',
    reason: plan.reason,
    ...(installed && { from: brief(installed) }),
    to: brief(offered),
    target: places.target,
    log: places.log,
  };
  await writeResult(context.effects, places, result);
  return result;
}

async function execute(
  context: UpgradeContext,
  places: UpgradePlaces,
  prepared: PreparedUpgrade,
  plan: Extract<UpgradePlan, { kind: 'steps' }>,
): Promise<UpgradeResult> {
  const { status, installed, offered, temporary } = prepared;
  const journal = new UpgradeJournal(places, context.effects);
  const pipe = await context.pipeOf(plan.command.args);
  const run: UpgradeRun = {
    context,
    places,
    journal,
    record: await journal.begin({
      phase: 'staging',
      id: context.id,
      staged: stagedPath(places, offered.version ?? '', offered.sha256),
      ...(installed && { from: installed }),
      to: offered,
      ...(status && { oldCommand: status.command }),
      newCommand: plan.command,
      pipe,
      // An old config that nobody can read has no daemon that could be asked.
      oldPipe: await context.pipeOf(status?.command.args ?? []).catch(() => pipe),
      disturbed: false,
      ...(context.askedBy !== undefined && { askedBy: context.askedBy }),
    }),
  };
  let last: UpgradeStep = 'stage';
  try {
    for (const step of plan.steps) {
      last = step;
      await takeStep(run, step, temporary);
    }
  } catch (error) {
    const reason = `step ${last} failed: ${messageOf(error)}`;
    const isReplaced =
      run.record.phase === 'committing' &&
      (last === 'register' || (await readProgram(places.target))?.sha256 === run.record.to.sha256);
    if (!isReplaced) return undoUpgrade(run, reason, 'helper');
    // The new daemon is proven and in place; what is missing is tried again by whoever comes next.
    throw new UpgradeError('serviceFailed', `${reason}; the new release serves`, { cause: error });
  }
  return finish(run, 'upgraded', `the release ${offered.version ?? ''} serves`);
}
