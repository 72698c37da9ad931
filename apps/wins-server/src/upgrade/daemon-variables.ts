import type { ProcessHost } from '@wins/process-manager';
import { RUN_RUNTIME_DIR_VARIABLE, RUN_SERVICE_VARIABLE } from '@wins/wins-program';

/** What a run learns of its daemon; undefined for what there is not. */
export interface OwnDaemon {
  /** The service that the daemon is. */
  readonly service: string | undefined;
  /** The folder of pipes that have a bare name, where they are files. */
  readonly runtimeDirectory: string | undefined;
}

/**
 * A host whose processes learn where their daemon is, for the helper of an upgrade, whatever the client that asked for them says: it is
 * set last, or taken away.
 */
export function withDaemonVariables(
  host: ProcessHost,
  { service, runtimeDirectory }: OwnDaemon,
): ProcessHost {
  const told = {
    [RUN_SERVICE_VARIABLE]: service,
    [RUN_RUNTIME_DIR_VARIABLE]: runtimeDirectory,
  };
  return {
    ...host,
    start: ({ env, ...command }) => {
      // As Windows compares names; elsewhere nobody has use for another spelling.
      const others = Object.entries(env).filter(([name]) => !(name.toUpperCase() in told));
      const known = Object.entries(told).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      );
      return host.start({ ...command, env: Object.fromEntries([...others, ...known]) });
    },
  };
}
