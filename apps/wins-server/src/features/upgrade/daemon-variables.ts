import {
  RUN_RUNTIME_DIR_VARIABLE,
  RUN_SERVICE_VARIABLE,
  type ProcessHost,
} from '@wins/wins-program';

export interface OwnDaemon {
  /** The service that the daemon is, if it is one. */
  readonly service: string | undefined;
  /** The folder of pipes that have a bare name, where they are files. */
  readonly runtimeDirectory: string | undefined;
}

/**
 * A host whose runs learn from two variables where their daemon is, for the helper of an upgrade. They replace what the client sets:
 * it must not choose the service that is upgraded.
 */
export function withDaemonVariables(
  host: ProcessHost,
  { service, runtimeDirectory }: OwnDaemon,
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
