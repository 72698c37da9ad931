import {
  Effects,
  findPaths,
  latestResult,
  offerUpgrade as offer,
  recoverAtStart,
  SignedProgram,
  UpgradeJournal,
  UpgradeLog,
  type Upgrader,
} from '@wins/service-upgrade';
import { helperArguments } from './command-of.js';
import type { UpgradeSettings } from './compose.js';
import { system } from './system.js';

// "wins status" loads this file for two questions, which need neither the commands nor the schema of the config.
const commands = () => import('./run-command.js');
export const runInRun: Awaited<ReturnType<typeof commands>>['runInRun'] = async (...given) =>
  (await commands()).runInRun(...given);
export const runUpgrade: Awaited<ReturnType<typeof commands>>['runUpgrade'] = async (...given) =>
  (await commands()).runUpgrade(...given);
const composeUpgrade = async (settings: UpgradeSettings) =>
  (await import('./compose.js')).composeUpgrade(settings);

/** Values that commands print as JSON. */
export type { NodeOutcome } from './install/node-task.js';
export type { CommandOutcome } from './upgrade-command.js';

/** Loaded on demand: neither the daemon nor the upgrade helper needs them. */
export const nodeCommands = () => import('./install/node-commands.js');

export const recoverUpgrade: Upgrader['recoverUpgrade'] = async (options) => {
  // Prevents an unhandled rejection while no caller awaits this promise yet.
  options.serving.catch(() => undefined);
  const log = new UpgradeLog(options.log);
  const context = await composeUpgrade({ ...options, log, ownFile: options.runningFile });
  return recoverAtStart(context, options.serving);
};

export const offerUpgrade: Upgrader['offerUpgrade'] = async (offered) => {
  const log = new UpgradeLog(offered.log);
  const context = await composeUpgrade({ ...offered, log, ownFile: offered.runningFile });
  const { program, sha256, service } = offered;
  const command = { path: program, service, request: { allowDowngrade: false, sha256 } };
  return offer(context, offered, (helper, order) =>
    context.host.startOutsideRun(helper, helperArguments({ ...command, ...order })),
  );
};

export const latestUpgrade: Upgrader['latestUpgrade'] = async (service) => {
  const { paths } = await recordsOf(service);
  return latestResult(paths);
};

export const upgradeUnderWay: Upgrader['upgradeUnderWay'] = async (service) => {
  const { paths, effects } = await recordsOf(service);
  const record = await new UpgradeJournal(paths, effects).read();
  return typeof record === 'object' ? record.phase : record;
};

async function recordsOf(name: string | undefined) {
  const effects = new Effects(undefined, undefined, system.holdersOf);
  const { service } = await system.upgradeParts(name, effects);
  return { effects, paths: await findPaths(service) };
}

export const readSignature: Upgrader['readSignature'] = () => new SignedProgram();
