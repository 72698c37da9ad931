import { RUN_MARKER_VARIABLE, RUN_RUNTIME_DIR_VARIABLE, RUN_SERVICE_VARIABLE } from '@wins/base';

/** `enterRun` keeps only these variables. With others, a client could change the pipes, the service to upgrade or the loaded code. */
const KEPT: ReadonlySet<string> = new Set([
  RUN_MARKER_VARIABLE,
  'PATH',
  'LANG',
  'TZ',
  'PATHEXT',
  'COMSPEC',
  'SYSTEMROOT',
  'SYSTEMDRIVE',
  'WINDIR',
  'PROGRAMDATA',
  // Needed by Windows for a profile, and by Wine.
  'USERPROFILE',
  'WINEUSERNAME',
]);

export interface DaemonRun {
  readonly name: string | undefined;
  readonly service: string | undefined;
}

/** Removes variables that the client of a run may have set, so call this first. Returns the run, if there is one. */
export function enterRun(environment: NodeJS.ProcessEnv = process.env): DaemonRun | undefined {
  const {
    [RUN_MARKER_VARIABLE]: mark,
    [RUN_SERVICE_VARIABLE]: service,
    [RUN_RUNTIME_DIR_VARIABLE]: pipes,
  } = environment;
  if (mark === undefined) return undefined;
  for (const name of Object.keys(environment))
    if (!KEPT.has(name.toUpperCase())) Reflect.deleteProperty(environment, name);
  // The pipes stay in this folder after the daemon is upgraded.
  if (pipes !== undefined) environment['WINS_RUNTIME_DIR'] = pipes;
  const [, name] = /^([0-9A-Za-z]{1,64})(?::|$)/.exec(mark) ?? [];
  return { name, service: service === '' ? undefined : service };
}
