import path from 'node:path';
import {
  describePlan,
  enterPrivateFolder,
  findPlaces,
  handOver,
  makeHelper,
  performUpgrade,
  planOnly,
  requireTrustedFolder,
  UpgradeError,
  UpgradeLog,
  withLock,
  writeResult,
  type UpgradeContext,
  type UpgradePlaces,
  type UpgradeResult,
} from '@wins/service-upgrade';
import { EXIT, messageOf, VERSION } from '@wins/wins-program';
import { apartArguments, type UpgradeCommand } from './command-of.js';
import { composeUpgrade, type UpgradeSettings } from './compose-upgrade.js';
import { removeHelper, withLockOfHelper } from './helper-process.js';
import { requireOwnDaemon } from './upgrade-in-run.js';

/** What a command came to: a result, a plan, or a helper that goes on. */
export type CommandOutcome =
  | UpgradeResult
  | { readonly outcome: 'planned'; readonly text: string; readonly exitCode: number }
  | {
      readonly outcome: 'handedOver';
      readonly id: string;
      readonly reason: string;
      readonly result: string;
      readonly log: string;
    };

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Does what `wins up` was asked. A process that would end with the daemon leaves the upgrade to a helper.
 *
 * @param inRun - Whether a daemon has started this process, and will end it.
 * @param more - What sees every effect, and what judges configs.
 */
export async function upgrade(
  command: UpgradeCommand,
  inRun: boolean,
  more: Pick<UpgradeSettings, 'around' | 'refuseDrops'>,
): Promise<CommandOutcome> {
  const log = new UpgradeLog((line) => {
    if (command.debug) process.stderr.write(line);
  });
  const context = await composeUpgrade({ ...command, ...more, log });
  if (inRun) await requireOwnDaemon(context);
  const task = async (): Promise<CommandOutcome> => {
    const places = await findPlaces(context.service);
    requireTrustedFolder(context, path.dirname(places.target));
    await using _folder = await enterPrivateFolder(context, places);
    log.write('asked', { version: VERSION, wish: command.wish, path: command.path });
    if (command.dryRun) return await dryRun(context, places, command);
    // Unlike a run of ours, one of the original is not marked, yet the daemon started it, and kills it with its tree.
    const endsWithDaemon = inRun || (!command.apart && (await isBelowService(context)));
    return endsWithDaemon
      ? await leaveRun(context, places, command)
      : await perform(context, places, command);
  };
  if (!command.apart) return withLock(context.service, task);
  const outcome = await withLockOfHelper(context, task);
  const upgraded = outcome.outcome === 'upgraded' ? outcome.target : undefined;
  await removeHelper(context, command.service, upgraded);
  return outcome;
}

async function isBelowService({ service, host }: UpgradeContext): Promise<boolean> {
  const pid = (await service.query())?.pid;
  return pid !== undefined && host.isBelow(pid);
}

async function leaveRun(
  context: UpgradeContext,
  places: UpgradePlaces,
  command: UpgradeCommand,
): Promise<CommandOutcome> {
  const decided =
    command.path === undefined
      ? await handOver(context, places, command.wish)
      : { file: await makeHelper(context, places, context.ownFile), knownVersions: new Map() };
  if ('outcome' in decided) return decided;
  const { file, knownVersions } = decided;
  const words = apartArguments({ ...command, id: context.id, knownVersions });
  await context.host.startApart(file, words);
  return {
    ...{ outcome: 'handedOver', id: context.id, result: places.result, log: places.log },
    reason: `a helper of its own goes on; its result will be in ${places.result}`,
  };
}

async function perform(
  context: UpgradeContext,
  places: UpgradePlaces,
  command: UpgradeCommand,
): Promise<UpgradeResult> {
  using _signals = outliveSignals((signal) => context.log.write('goes on', { signal }));
  try {
    return await performUpgrade(context, places, command.path ?? context.ownFile, command.wish);
  } catch (error) {
    const isRefusal = error instanceof UpgradeError && error.code === 'refused';
    const result: UpgradeResult = {
      ...{ id: context.id, outcome: isRefusal ? 'refused' : 'failed' },
      reason: `${messageOf(error)}; ${await describeNode(context)}`,
      ...{ target: places.target, log: places.log },
    };
    context.log.write('failed', { ...result });
    // A full disk has no place for a result either.
    await writeResult(context.effects, places, result).catch(() => undefined);
    return result;
  }
}

/**
 * A key, or a terminal that goes away, must not end an upgrade half-way: it comes to its own end, soon, either way. Disposing it
 * gives the signals back to Node.
 */
function outliveSignals(onSignal: (signal: NodeJS.Signals) => void): Disposable {
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

async function describeNode({ service }: UpgradeContext): Promise<string> {
  try {
    const status = await service.query();
    if (status === undefined) return `now there is no service ${service.name}`;
    return `now the service is ${status.state} and names ${status.command.imagePath}`;
  } catch (error) {
    return `how the service is now is not known: ${messageOf(error)}`;
  }
}

async function dryRun(
  context: UpgradeContext,
  places: UpgradePlaces,
  { path: program = context.ownFile, wish }: UpgradeCommand,
): Promise<CommandOutcome> {
  const { plan, isPending } = await planOnly(context, places, program, wish);
  const first = isPending ? 'first, an upgrade that was interrupted is finished or undone\n' : '';
  const exitCode = plan.kind === 'refusal' ? EXIT.upgrade.refused : EXIT.upgrade.ok;
  return { outcome: 'planned', text: first + describePlan(plan), exitCode };
}
