import { foldAscii, type PathDialect } from './parsed-path.js';
import { ProcessError } from '../process-error.js';
import { quoteText } from '../quote-text.js';

/** The variable that marks every process of a run; a client can never set it. */
export const RUN_MARKER_VARIABLE = 'RANCHER_WINS_RUN';

// Upper case; a trailing `*` means every name with that beginning.
// These make a program load code or data of the setter's choice: the daemon's own values are not passed on.
const LOADER_VARIABLES = (
  'LD_* DYLD_* GCONV_PATH GLIBC_TUNABLES LOCPATH NLSPATH HOSTALIASES RESOLV_HOST_CONF ' +
  'NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_COMPILE_CACHE NODE_V8_COVERAGE ' +
  'NODE_REDIRECT_WARNINGS NODE_ICU_DATA ELECTRON_RUN_AS_NODE DENO_* BUN_* ' +
  'DOTNET_* COREHOST_* COR_* CORECLR_* COMPLUS_* PYTHON* PERL5LIB PERL5OPT PERL5DB PERLLIB ' +
  'RUBYOPT RUBYLIB GEM_HOME GEM_PATH BUNDLE_* LUA_* ' +
  'JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH ' +
  'BASH_ENV ENV BASH_FUNC_* SHELLOPTS BASHOPTS PS4 IFS CDPATH OPENSSL_CONF OPENSSL_ENGINES ' +
  'OPENSSL_MODULES __COMPAT_LAYER __PSLOCKDOWNPOLICY'
).split(' ');

// These belong to the system: the daemon's values are passed on, a client may not replace them.
const SYSTEM_VARIABLES =
  'PATH PATHEXT COMSPEC PSMODULEPATH PSModulePath SYSTEMROOT SYSTEMDRIVE WINDIR'.split(' ');

/** What the environment of a child is made of. */
export interface ChildEnvironmentRequest {
  readonly base: NodeJS.ProcessEnv;
  /** `NAME=value` entries of the client. */
  readonly envs: readonly string[];
  /** Guarded names that the matching rule allows. */
  readonly allowedNames: readonly string[];
  readonly dialect: PathDialect;
}

/**
 * Builds a child's environment: the base less `WINS_*`, the run marker and the loader variables,
 * then the client's entries on top. Names compare without ASCII case in the Windows dialect.
 *
 * @throws ProcessError `invalidArgument` for an entry without `=`, with an empty name, with NUL, with
 * a name beyond ASCII in the Windows dialect, or given twice; `envNotAllowed` for a guarded name that the rule does not list.
 */
export function childEnvironment(request: ChildEnvironmentRequest): Record<string, string> {
  const { dialect } = request;
  const keyOf = (name: string): string => (dialect === 'windows' ? foldAscii(name) : name);
  const allowed = new Set(request.allowedNames.map(keyOf));
  const asked = new Map<string, readonly [name: string, value: string]>();
  for (const [index, entry] of request.envs.entries()) {
    const [name, value] = splitEntry(entry, index);
    // Whoever folds more than A to Z takes \u017F for S and \u0131 for I: it would be another name here than there.
    if (dialect === 'windows' && /[^ -~]/.test(name)) {
      throw invalid(`environment variable ${quoteText(name)} has a name beyond ASCII; wanted none`);
    }
    const key = keyOf(name);
    if (asked.has(key)) throw invalid(`environment variable ${quoteText(name)} is given twice`);
    if (isMarker(name, dialect) || (isGuarded(name, dialect) && !allowed.has(key))) {
      throw new ProcessError(
        'envNotAllowed',
        `environment variable ${quoteText(name)} may not be set for this program: it can change what the program loads, and the rule does not list it`,
        { rule: `A21 guarded variable ${quoteText(name)}` },
      );
    }
    asked.set(key, [name, value]);
  }
  const result = new Map<string, readonly [name: string, value: string]>();
  for (const [name, value] of Object.entries(request.base)) {
    if (value !== undefined && isInherited(name, dialect)) result.set(keyOf(name), [name, value]);
  }
  for (const [key, pair] of asked) result.set(key, pair);
  // No prototype: a variable named __proto__ is a variable like any other.
  const environment = Object.create(null) as Record<string, string>;
  for (const [name, value] of result.values()) environment[name] = value;
  return environment;
}

function splitEntry(entry: string, index: number): readonly [name: string, value: string] {
  const equals = entry.indexOf('=');
  // The entry may be a secret with its name forgotten, so it is not repeated in the message.
  if (equals < 0) throw invalid(`environment entry ${index + 1} has no "="; wanted NAME=value`);
  if (equals === 0)
    throw invalid(`environment entry ${index + 1} has an empty name; wanted NAME=value`);
  const name = entry.slice(0, equals);
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(name) || entry.includes('\0')) {
    throw invalid(`environment variable ${quoteText(name)} holds NUL or a control character`);
  }
  return [name, entry.slice(equals + 1)];
}

function isInherited(name: string, dialect: PathDialect): boolean {
  // Windows keeps a directory per drive under names such as `=C:`.
  if (name === '' || name.startsWith('=')) return false;
  const upper = upperName(name, dialect);
  return (
    !upper.startsWith('WINS_') && upper !== RUN_MARKER_VARIABLE && !matches(upper, LOADER_VARIABLES)
  );
}

function isGuarded(name: string, dialect: PathDialect): boolean {
  const upper = upperName(name, dialect);
  return matches(upper, LOADER_VARIABLES) || matches(upper, SYSTEM_VARIABLES);
}

function isMarker(name: string, dialect: PathDialect): boolean {
  return upperName(name, dialect) === RUN_MARKER_VARIABLE;
}

// On POSIX `ld_preload` is a harmless name of its own.
function upperName(name: string, dialect: PathDialect): string {
  if (dialect === 'posix') return name;
  return name.replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}

function invalid(message: string): ProcessError {
  return new ProcessError('invalidArgument', `cannot build the environment: ${message}`);
}
