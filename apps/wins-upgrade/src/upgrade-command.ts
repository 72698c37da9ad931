import {
  describePlan,
  enterPrivateFolder,
  findPaths,
  handOver,
  helpersIn,
  makeHelper,
  performUpgrade,
  planOnly,
  removeLeftovers,
  requireTrustedFolder,
  runsDaemon,
  STEP_TEXT,
  UpgradeError,
  UpgradeLog,
  withLock,
  writeResult,
  type UpgradeContext,
  type UpgradePaths,
  type UpgradeResult,
  type UpgradeStep,
} from '@wins/service-upgrade';
import { EXIT, messageOf, VERSION } from '@wins/base';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { helperArguments, type UpgradeCommand } from './command-of.js';
import { composeUpgrade, type UpgradeSettings } from './compose.js';
import { onSignals, tickOff } from './console.js';

const SWEEP_LIMIT_MS = 30_000;
const SWEEP_DELAY_MS = 50;

function tickStep(line: string): void {
  const { msg, step } = JSON.parse(line) as { msg: string; step: UpgradeStep };
  if (msg === 'step done') tickOff(STEP_TEXT[step]);
}

export type CommandOutcome =
  | UpgradeResult
  | { readonly outcome: 'planned'; readonly text: string; readonly exitCode: number }
  | ({ readonly outcome: 'handedOver' } & Readonly<
      Record<'id' | 'reason' | 'result' | 'log', string>
    >);

/**
 * Executes `wins up`. If this process is a run of the daemon (`inRun`), an upgrade helper performs the upgrade, because this process would end
 * together with the daemon.
 */
export async function upgrade(
  command: UpgradeCommand,
  inRun: boolean,
  more: Pick<UpgradeSettings, 'around' | 'refuseDrops'>,
): Promise<CommandOutcome> {
  const log = new UpgradeLog((line) => {
    if (command.debug) process.stderr.write(line);
    else if (command.isTicked) tickStep(line);
  });
  const context = await composeUpgrade({ ...command, ...more, log });
  const { service, host } = context;
  if (inRun) await requireOwnDaemon(context);
  const task = async (): Promise<CommandOutcome> => {
    const paths = await findPaths(service);
    requireTrustedFolder(context, path.dirname(paths.target));
    await using _folder = await enterPrivateFolder(context, paths);
    log.write('asked', { version: VERSION, request: command.request, path: command.path });
    if (command.dryRun) return await dryRun(context, paths, command);
    if (inRun) return await leaveRun(context, paths, command);
    // In a run of a Go daemon, `inRun` is false, because a Go daemon does not mark its runs. `isBelow` detects such a run, which would end together
    // with the daemon.
    const pid = command.apart ? undefined : (await service.query())?.pid;
    return pid !== undefined && host.isBelow(pid)
      ? await leaveRun(context, paths, command)
      : await perform(context, paths, command);
  };
  if (!command.apart) return withLock(service, task);
  const outcome = await withLockOfHelper(context, task);
  const upgraded = outcome.outcome === 'upgraded' ? outcome.target : undefined;
  await removeHelper(context, command.service, upgraded);
  return outcome;
}

/** @throws UpgradeError `refused` if the service runs no daemon. */
async function requireOwnDaemon({ service }: UpgradeContext): Promise<void> {
  const status = await service.query();
  if (status !== undefined && runsDaemon(status.command.args)) return;
  const { name } = service;
  const found =
    status === undefined
      ? `there is no service ${name}`
      : `the service ${name} does not run a daemon of wins`;
  throw new UpgradeError('refused', `cannot upgrade from within a run of the daemon: ${found}`);
}

async function leaveRun(context: UpgradeContext, paths: UpgradePaths, command: UpgradeCommand) {
  const { id, host, ownFile } = context;
  const decided =
    command.path === undefined
      ? await handOver(context, paths, command.request)
      : { file: await makeHelper(context, paths, ownFile), knownVersions: new Map() };
  if ('outcome' in decided) return decided;
  const { file, knownVersions } = decided;
  await host.startOutsideRun(file, helperArguments({ ...command, id, knownVersions }));
  const { result, log } = paths;
  const reason = `a helper continues in the background; its result will be in ${result}`;
  return { outcome: 'handedOver', id, result, log, reason } as const;
}

async function perform(context: UpgradeContext, paths: UpgradePaths, command: UpgradeCommand) {
  const { id, log, effects, ownFile } = context;
  // A keystroke or a closed terminal must not stop an upgrade half-way.
  using _signals = onSignals((signal) => log.write('goes on', { signal }));
  try {
    return await performUpgrade(context, paths, command.path ?? ownFile, command.request);
  } catch (error) {
    const isRefusal = error instanceof UpgradeError && error.code === 'refused';
    const result: UpgradeResult = {
      id,
      outcome: isRefusal ? 'refused' : 'failed',
      reason: `${messageOf(error)}; ${await describeNode(context)}`,
      target: paths.target,
      log: paths.log,
    };
    log.write('failed', { ...result });
    // Ignore an error of this write: if the upgrade failed because the disk is full, this write fails too.
    await writeResult(effects, paths, result).catch(() => undefined);
    return result;
  }
}

async function describeNode({ service }: UpgradeContext): Promise<string> {
  try {
    const status = await service.query();
    if (status === undefined) return `now there is no service ${service.name}`;
    return `now the service is ${status.state} and names ${status.command.imagePath}`;
  } catch (error) {
    return `the state of the service is unknown: ${messageOf(error)}`;
  }
}

async function dryRun(
  context: UpgradeContext,
  paths: UpgradePaths,
  { path: program = context.ownFile, request }: UpgradeCommand,
): Promise<CommandOutcome> {
  const { plan, isPending } = await planOnly(context, paths, program, request);
  const first = isPending ? 'first, an interrupted upgrade is finished or rolled back\n' : '';
  const exitCode = plan.kind === 'refusal' ? EXIT.upgrade.refused : EXIT.upgrade.ok;
  return { outcome: 'planned', text: first + describePlan(plan), exitCode };
}

/** Writes a result even if the lock is taken, because the client waits for a result. */
async function withLockOfHelper<T>(context: UpgradeContext, task: () => Promise<T>): Promise<T> {
  try {
    return await withLock(context.service, task, { timeoutMs: context.waitMs });
  } catch (error) {
    const paths = await findPaths(context.service);
    const { target, log } = paths;
    const found = { id: context.id, outcome: 'refused', reason: messageOf(error) } as const;
    // The cause counts, not an error of this write.
    await writeResult(context.effects, paths, { ...found, target, log }).catch(() => undefined);
    throw error;
  }
}

/** On Windows a running helper cannot be removed, so the upgraded program removes it, or else the next upgrade does. */
async function removeHelper(
  { host, ownFile }: UpgradeContext,
  service: string | undefined,
  upgraded: string | undefined,
): Promise<void> {
  try {
    await rm(ownFile, { force: true });
  } catch {
    if (upgraded === undefined) return;
    const words = ['up', '--sweep', ...(service === undefined ? [] : [`--service=${service}`])];
    await host.startOutsideRun(upgraded, words).catch(() => undefined);
  }
}

export async function sweepHelpers(context: UpgradeContext): Promise<void> {
  const paths = await findPaths(context.service);
  const end = performance.now() + SWEEP_LIMIT_MS;
  while ((await helpersIn(paths)).length > 0 && performance.now() < end) {
    await withLock(context.service, () => removeLeftovers({ context, paths }));
    await delay(SWEEP_DELAY_MS);
  }
}
