import {
  runsDaemon,
  WATCHED_PREFIX,
  type UpgradeContext,
  UpgradeError,
} from '@wins/service-upgrade';
import type { UpgradeCommand } from './command-of.js';
import type { DaemonRun } from './enter-run.js';
import { refusal } from './require-words-of-run.js';

/**
 * What a run decides, and no word of it: which service it is, and who asked.
 *
 * @throws UpgradeError `refused` for a name such as a daemon gives to the upgrades that it begins by itself.
 */
export function decidedByRun(
  { service, name }: DaemonRun,
  { id }: Pick<UpgradeCommand, 'id'>,
): Pick<UpgradeCommand, 'service' | 'askedBy'> {
  if (id?.startsWith(WATCHED_PREFIX) !== true) return { service, askedBy: name };
  throw refusal(`found --id with a name that begins with ${WATCHED_PREFIX}`);
}

/**
 * A daemon that is no service, or does not tell which, leaves the default one: there too only a daemon is replaced.
 *
 * @throws UpgradeError `refused`.
 */
export async function requireOwnDaemon({
  service,
}: Pick<UpgradeContext, 'service'>): Promise<void> {
  const refuse = (found: string) =>
    new UpgradeError('refused', `cannot upgrade from within a run of the daemon: ${found}`);
  const status = await service.query();
  if (status === undefined) throw refuse(`there is no service ${service.name}`);
  if (runsDaemon(status.command.args)) return;
  throw refuse(`the service ${service.name} does not run a daemon of wins`);
}
