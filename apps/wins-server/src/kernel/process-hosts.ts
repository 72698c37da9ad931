import { namedUpgrader, upgradeFolder } from '@wins/service-upgrade';
import type { FileTrust } from '@wins/trusted-files';
import { RUN_RUNTIME_DIR_VARIABLE, RUN_SERVICE_VARIABLE, type ProcessHost } from '@wins/base';

/**
 * Returns a host that starts each process with the variables that locate this daemon. Clients cannot override these variables, because no client may
 * choose the service to upgrade.
 */
export function withDaemonVariables(
  host: ProcessHost,
  {
    service,
    runtimeDirectory,
  }: {
    /** Undefined: the daemon is not a service. */
    readonly service: string | undefined;
    /** Folder of pipes that are named without a path; undefined if none. */
    readonly runtimeDirectory: string | undefined;
  },
): ProcessHost {
  const own = { [RUN_SERVICE_VARIABLE]: service, [RUN_RUNTIME_DIR_VARIABLE]: runtimeDirectory };
  return {
    ...host,
    start: ({ env, ...command }) => {
      // Windows ignores the case of variable names. On other systems, nothing uses these names in another case.
      const others = Object.entries(env).filter(([name]) => !(name.toUpperCase() in own));
      const known = Object.entries(own).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      );
      return host.start({ ...command, env: Object.fromEntries([...others, ...known]) });
    },
  };
}

/** Excludes the upgrade helper from leftovers. The helper has stopped the daemon that started it, but is still needed. */
export function sparingUpgrader(
  host: ProcessHost,
  runningFile: string,
  trust: FileTrust,
): ProcessHost {
  // Resolved now, because the program of a daemon on trial is moved later.
  const folder = upgradeFolder(runningFile);
  return {
    ...host,
    findLeftovers: async (search) =>
      host.findLeftovers({ ...search, spared: await namedUpgrader(folder, trust) }),
  };
}
