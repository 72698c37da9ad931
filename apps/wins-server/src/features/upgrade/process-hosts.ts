import { namedUpgrader, upgradeFolder } from '@wins/service-upgrade';
import type { FileTrust } from '@wins/trusted-files';
import { RUN_RUNTIME_DIR_VARIABLE, RUN_SERVICE_VARIABLE, type ProcessHost } from '@wins/base';

/** Runs get variables that locate their daemon; they override those of clients, which must not choose the upgraded service. */
export function withDaemonVariables(
  host: ProcessHost,
  {
    service,
    runtimeDirectory,
  }: {
    /** Service name of the daemon; undefined when it is not a service. */
    readonly service: string | undefined;
    /** Folder of bare pipe names, where pipes are files. */
    readonly runtimeDirectory: string | undefined;
  },
): ProcessHost {
  const own = { [RUN_SERVICE_VARIABLE]: service, [RUN_RUNTIME_DIR_VARIABLE]: runtimeDirectory };
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

/** Never treats the upgrade helper as a leftover: it may run without a mark, and its daemon is gone because it stopped it. */
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
