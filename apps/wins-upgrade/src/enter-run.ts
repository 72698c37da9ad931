import { RUN_MARKER_VARIABLE, RUN_RUNTIME_DIR_VARIABLE, RUN_SERVICE_VARIABLE } from '@wins/base';

/**
 * Variables that a process keeps in a run, upper case: those of the system, and the mark. All else may be a
 * client's, and would choose where pipes are looked for, which service is upgraded, or what is loaded.
 */
const KEPT: ReadonlySet<string> = new Set([
  ...[RUN_MARKER_VARIABLE, 'PATH', 'LANG', 'TZ'],
  ...['PATHEXT', 'COMSPEC', 'SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'PROGRAMDATA'],
  // Windows itself knows an account and its profile, Wine by these alone. Nothing here asks for them by name.
  ...['USERPROFILE', 'WINEUSERNAME'],
]);

/** A run of a daemon, seen from within. */
export interface DaemonRun {
  /** The name of the run; undefined when the mark does not say it in letters and digits. */
  readonly name: string | undefined;
  /** The service that its daemon is; undefined when the daemon does not tell. */
  readonly service: string | undefined;
}

/**
 * Finds out whether a daemon has started this process, for a client, and if so forgets what the client may have put into the
 * environment. Call it before anything reads that.
 *
 * @param environment - Is changed. Default: that of this process.
 * @returns Undefined when this is no run.
 */
export function enterRun(environment: NodeJS.ProcessEnv = process.env): DaemonRun | undefined {
  const {
    [RUN_MARKER_VARIABLE]: mark,
    [RUN_SERVICE_VARIABLE]: service,
    [RUN_RUNTIME_DIR_VARIABLE]: pipes,
  } = environment;
  if (mark === undefined) return undefined;
  for (const name of Object.keys(environment)) {
    if (!KEPT.has(name.toUpperCase())) Reflect.deleteProperty(environment, name);
  }
  // Where the pipes of that daemon are, so are those of the next.
  if (pipes !== undefined) environment['WINS_RUNTIME_DIR'] = pipes;
  const [, name] = /^([0-9A-Za-z]{1,64})(?::|$)/.exec(mark) ?? [];
  return { name, service: service === '' ? undefined : service };
}
