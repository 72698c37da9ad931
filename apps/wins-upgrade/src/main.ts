import {
  findPaths,
  latestResult,
  offerUpgrade as offer,
  recoverAtStart,
  SignedProgram,
  UpgradeJournal,
  UpgradeLog,
  type Upgrader,
} from '@wins/service-upgrade';
import { detachedArguments } from './command-of.js';
import { composeUpgrade } from './compose.js';
import { system } from './system.js';

export { runInRun, runUpgrade } from './run-command.js';

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
    context.host.startDetached(helper, detachedArguments({ ...command, ...order })),
  );
};

export const latestUpgrade: Upgrader['latestUpgrade'] = async (service) => {
  if (!system.hasService(service)) return undefined;
  const context = await composeUpgrade({ service, log: new UpgradeLog() });
  return latestResult(await findPaths(context.service));
};

export const upgradeUnderWay: Upgrader['upgradeUnderWay'] = async (service) => {
  if (!system.hasService(service)) return undefined;
  const context = await composeUpgrade({ service, log: new UpgradeLog() });
  const journal = new UpgradeJournal(await findPaths(context.service), context.effects);
  const record = await journal.read();
  return typeof record === 'object' ? record.phase : record;
};

export const readSignature: Upgrader['readSignature'] = () => new SignedProgram();
