import type { ProcessHost } from '@wins/wins-program';
import { namedUpgrader, upgradeFolder } from '@wins/service-upgrade';
import type { FileTrust } from '@wins/trusted-files';

/**
 * A host that never takes for a leftover what upgrades this daemon: that process may run a verified copy, without a mark, and the daemon
 * that started it is dead because the upgrade has stopped it.
 *
 * @param runningFile - The program of this daemon.
 */
export function sparingUpgrader(
  host: ProcessHost,
  runningFile: string,
  trust: FileTrust,
): ProcessHost {
  // A daemon on trial is moved later.
  const folder = upgradeFolder(runningFile);
  return {
    ...host,
    findLeftovers: async (search) =>
      host.findLeftovers({ ...search, spared: await namedUpgrader(folder, trust) }),
  };
}
