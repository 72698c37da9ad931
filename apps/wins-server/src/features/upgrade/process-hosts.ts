import { namedUpgrader, upgradeFolder } from '@wins/service-upgrade';
import type { FileTrust } from '@wins/trusted-files';
import { RUN_RUNTIME_DIR_VARIABLE, RUN_SERVICE_VARIABLE, type ProcessHost } from '@wins/base';

/**
 * A host whose runs learn from two variables where their daemon is, for the helper of an upgrade. They replace what the client sets:
 * it must not choose the service that is upgraded.
 */
export function withDaemonVariables(
  host: ProcessHost,
  {
    service,
    runtimeDirectory,
  }: {
    /** The service that the daemon is, if it is one. */
    readonly service: string | undefined;
    /** The folder of pipes that have a bare name, where they are files. */
    readonly runtimeDirectory: string | undefined;
  },
): ProcessHost {
  const own = {
    [RUN_SERVICE_VARIABLE]: service,
    [RUN_RUNTIME_DIR_VARIABLE]: runtimeDirectory,
  };
  return {
    ...host,
    start: ({ env, ...command }) => {
      // Windows compares names without case; elsewhere no other spelling is in use.
      const others = Object.entries(env).filter(([name]) => !(name.toUpperCase() in own));
      const known = Object.entries(own).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      );
      return host.start({ ...command, env: Object.fromEntries([...others, ...known]) });
    },
  };
}

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
