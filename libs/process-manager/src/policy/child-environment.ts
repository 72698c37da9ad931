import { quoteText, RUN_MARKER_VARIABLE } from '@wins/base';
import { nameKey, type PathDialect } from './parsed-path.js';
import { ProcessError, type ProcessRule } from '../process-error.js';
import path from 'node:path';

/**
 * Variables that clients may set for a program: `any`, or a list of names. A trailing `*` matches every name with
 * that prefix. A guarded variable, such as `PATH`, can change what programs load. Only its exact name grants it,
 * not `any` or a prefix.
 */
export type AllowedVariables = readonly string[] | 'any';

interface ChildEnvironmentRequest {
  /** Layers of variables for every run; a later layer overrides an earlier one. */
  readonly base: readonly Readonly<Record<string, string>>[];
  readonly envs: readonly string[];
  readonly allowed: AllowedVariables;
  readonly dialect: PathDialect;
}

/**
 * Builds a child's environment: the base, overridden by the client's entries. The Windows dialect ignores the case of
 * A to Z.
 *
 * @throws ProcessError `invalidArgument` for a malformed or repeated entry, `envNotAllowed` for a variable that
 * `allowed` does not grant.
 */
export function childEnvironment(request: ChildEnvironmentRequest): Record<string, string> {
  const { dialect } = request;
  const assertGranted = granter(request.allowed, dialect);
  const asked = new Map<string, readonly [name: string, value: string]>();
  for (const [index, entry] of request.envs.entries()) {
    const [name, value] = splitEntry(entry, index);
    // The checks below ignore case only for A to Z. A program may also equate \u017F with S and \u0131 with I. It could
    // then read a variable that the checks should have refused.
    if (dialect === 'windows' && /[^ -~]/.test(name)) {
      throw invalid(`environment variable ${quoteText(name)} has a name that is not ASCII`);
    }
    const key = nameKey(name, dialect);
    if (asked.has(key)) throw invalid(`environment variable ${quoteText(name)} is given twice`);
    assertGranted(name);
    asked.set(key, [name, value]);
  }
  const result = new Map<string, readonly [name: string, value: string]>();
  for (const [name, value] of request.base.flatMap((layer) => Object.entries(layer)))
    result.set(nameKey(name, dialect), [name, value]);
  for (const [key, pair] of asked) result.set(key, pair);
  // No prototype, so that a variable named __proto__ is stored like any other.
  const environment = Object.create(null) as Record<string, string>;
  for (const [name, value] of result.values()) environment[name] = value;
  return environment;
}

export function faultOfAllowedVariables(allowed: AllowedVariables): string | undefined {
  if (allowed === 'any') return undefined;
  const bad = allowed.find((name) => !/^[^=*\0]+\*?$/.test(name));
  return bad === undefined
    ? undefined
    : `${quoteText(bad)} in its "envs" is not the name of a variable; wanted one such as NODE_NAME or KUBE_*`;
}

/** Returns a function that refuses a variable that is not granted. Reads `allowed` once, because an entry may list thousands of names. */
function granter(allowed: AllowedVariables, dialect: PathDialect): (name: string) => void {
  const patterns = allowed === 'any' ? ['*'] : allowed;
  const isGranted = matcher(patterns, dialect);
  const isNamed = matcher(
    patterns.filter((pattern) => !pattern.endsWith('*')),
    dialect,
  );
  const isAmongGuarded = matcher(GUARDED_VARIABLES, dialect);
  const isRunMarker = matcher([RUN_MARKER_VARIABLE], dialect);
  return (name) => {
    const isGuarded = isAmongGuarded(name);
    const isMarker = isRunMarker(name);
    if (!isMarker && (isGuarded ? isNamed(name) : isGranted(name))) return;
    const refused = `cannot set the environment variable ${quoteText(name)} for this program`;
    if (isMarker) {
      throw refusal(`${refused}: it marks the processes of a run`, 'A21 guarded variable', name);
    }
    const why = isGuarded ? 'it can change what programs load' : 'its entry does not grant it';
    const rule = isGuarded ? 'A21 guarded variable' : 'A40 variable not granted';
    throw refusal(`${refused}: ${why}. Add its exact name to "envs" of the entry`, rule, name);
  };
}

/**
 * Returns whether a name is one of the patterns, or begins like one with a trailing `*`. Only Windows ignores case: on POSIX `ld_preload` is harmless.
 */
function matcher(patterns: readonly string[], dialect: PathDialect): (name: string) => boolean {
  const keys = patterns.map((pattern) => nameKey(pattern, dialect));
  const names = new Set(keys.filter((key) => !key.endsWith('*')));
  const beginnings = keys.filter((key) => key.endsWith('*')).map((key) => key.slice(0, -1));
  return (name) => {
    const key = nameKey(name, dialect);
    return names.has(key) || beginnings.some((beginning) => key.startsWith(beginning));
  };
}

function refusal(message: string, rule: ProcessRule, variable: string): ProcessError {
  return new ProcessError('envNotAllowed', message, { rule, variable });
}

function splitEntry(entry: string, index: number): readonly [name: string, value: string] {
  const equals = entry.indexOf('=');
  // The message omits the entry, because it may be a secret value whose name the client forgot.
  if (equals < 0) throw invalid(`environment entry ${index + 1} has no "="; wanted NAME=value`);
  if (equals === 0)
    throw invalid(`environment entry ${index + 1} has an empty name; wanted NAME=value`);
  const name = entry.slice(0, equals);
  // oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
  if (/[\x00-\x1f\x7f]/.test(name) || entry.includes('\0')) {
    throw invalid(`environment variable ${quoteText(name)} holds NUL or a control character`);
  }
  return [name, entry.slice(equals + 1)];
}

function invalid(message: string): ProcessError {
  return new ProcessError('invalidArgument', `cannot build the environment: ${message}`);
}

// Variables that can make a program load additional code. An entry may grant them by exact name. The operator must
// not set them for every run. Names are in upper case, unless programs read lower case. A trailing `*` matches every name
// with that prefix.
const LOADER_VARIABLES = (
  'LD_* DYLD_* GCONV_PATH GLIBC_TUNABLES LOCPATH NLSPATH MALLOC_* HOSTALIASES RESOLV_HOST_CONF ' +
  'NODE_OPTIONS NODE_PATH NODE_REPL_* NODE_COMPILE_CACHE* NODE_V8_COVERAGE NODE_REDIRECT_WARNINGS NODE_ICU_DATA ' +
  'NODE_EXTRA_* NODE_TLS_* NODE_CHANNEL_* NODE_UNIQUE_ID NODE_PRESERVE_* NODE_TEST_* NODE_USE_* NODE_CONFIG* NODE_ENV ' +
  'ELECTRON_* DENO_* BUN_* NPM_* npm_config_* YARN_* ' +
  'DOTNET_* COREHOST_* COR_* CORECLR_* COMPLUS_* MSBUILD* NUGET_* MONO_* ' +
  'PYTHON* PIP_* PERL* RUBY* GEM_* BUNDLE_* LUA_* PHP* R_PROFILE* R_ENVIRON* R_LIBS* TCL* ' +
  'ERL_* ELIXIR_* JAVA_* _JAVA_* JDK_* CLASSPATH MAVEN_* GRADLE_* ' +
  'BASH_* ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 IFS CDPATH FPATH ZDOTDIR INPUTRC ' +
  'OPENSSL_* ICU_DATA QT_* GTK_* GIO_* GST_* ' +
  '__COMPAT_LAYER __PSLOCKDOWNPOLICY'
).split(' ');

// These variables point a tool to a configuration, a helper program or a folder, any of which may lead it to load code.
const TOOL_VARIABLES = (
  'HOME HOMEDRIVE HOMEPATH USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA ALLUSERSPROFILE PUBLIC XDG_* ' +
  'TMP TEMP TMPDIR TAR_* TAPE GIT_* SSH_* SVN_* HGRCPATH CVS_* RSYNC_* GOFLAGS GOROOT GOPATH GOENV GOTOOLDIR ' +
  'CARGO* RUST* CC CXX MAKE* ' +
  'CURL_* WGETRC SYSTEM_WGETRC SSL_* SSLKEYLOGFILE PAGER MANPAGER LESS* EDITOR VISUAL BROWSER SHELL ' +
  'VIM* NVIM* EMACS* EXINIT TERMINFO* TERMCAP GREP_OPTIONS GZIP BZIP* XZ_* ZIP* UNZIP* ' +
  'KUBECONFIG DOCKER_* CONTAINERD_* AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE CLOUDSDK_* ' +
  'ANSIBLE_* GNUPGHOME NETRC'
).split(' ');

// The search path for programs, and the location of Windows.
const SYSTEM_VARIABLES = (
  'PATH PATHEXT COMSPEC PSMODULEPATH SYSTEMROOT SYSTEMDRIVE WINDIR ' +
  'NODEFAULTCURRENTDIRECTORYINEXEPATH'
).split(' ');

// The mark of a run, and variables of wins itself, such as WINS_FILES.
const RESERVED_VARIABLES = [RUN_MARKER_VARIABLE, 'WINS_*'];

const FORBIDDEN_VARIABLES = [...RESERVED_VARIABLES, ...LOADER_VARIABLES];

/**
 * Variables that can make a program do more than its arguments say. An entry grants such a variable only by its exact name, and never the mark of a
 * run. No list of such variables is complete. For this reason, all other variables need a grant too. For those, a prefix or `any` is enough.
 */
const GUARDED_VARIABLES = [...FORBIDDEN_VARIABLES, ...TOOL_VARIABLES, ...SYSTEM_VARIABLES];

/**
 * Checks the variables that an operator sets for all runs. Returns the forbidden ones: those that can make programs
 * load code, and those that wins reserves. An entry's `envs` may still let clients set a code-loading variable for the
 * entry's program.
 */
export function checkProcessEnvironment(
  environment: Readonly<Record<string, string>>,
  dialect: PathDialect,
): readonly { readonly name: string; readonly message: string }[] {
  return Object.keys(environment)
    .filter(matcher(FORBIDDEN_VARIABLES, dialect))
    .map((name) => ({
      name,
      message: `the variable ${quoteText(name)}, which changes what programs load`,
    }));
}

interface EnvironmentFacts {
  readonly dialect: PathDialect;
  /** The daemon's environment; only facts about the machine are copied. */
  readonly own: NodeJS.ProcessEnv;
  /** Private folder for temporary files. Used on Windows, because every user can write to the temporary folder of the system. */
  readonly temporaryDirectory: string;
}

// Facts about a Windows machine: the same for all its users, and not secret.
const WINDOWS_FACTS = (
  'ProgramFiles ProgramFiles(x86) ProgramW6432 CommonProgramFiles CommonProgramFiles(x86) CommonProgramW6432 ' +
  'ALLUSERSPROFILE PUBLIC COMPUTERNAME NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE PROCESSOR_IDENTIFIER ' +
  'PROCESSOR_LEVEL PROCESSOR_REVISION'
).split(' ');

/**
 * Variables that every run gets: enough to find the system's programs and folders. Copies no other variable of the
 * daemon, because the value may be secret.
 */
export function minimalEnvironment(facts: EnvironmentFacts): Readonly<Record<string, string>> {
  return facts.dialect === 'windows' ? windows(facts) : posix(facts);
}

function posix({ own }: EnvironmentFacts): Record<string, string> {
  const timeZone = own['TZ'];
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    LANG: 'C.UTF-8',
    HOME: '/nonexistent',
    ...(timeZone !== undefined && { TZ: timeZone }),
  };
}

function windows({ own, temporaryDirectory }: EnvironmentFacts): Record<string, string> {
  const known = new Map(
    Object.entries(own).map(([name, value]) => [nameKey(name, 'windows'), value]),
  );
  const fact = (name: string): string | undefined => known.get(nameKey(name, 'windows'));
  const root = fact('SystemRoot') ?? 'C:\\Windows';
  const drive = fact('SystemDrive') ?? path.win32.parse(root).root.replace(/\\$/, '');
  const system = path.win32.join(root, 'System32');
  const folders = ['', 'Wbem', 'WindowsPowerShell\\v1.0'].map((name) =>
    path.win32.join(system, name),
  );
  const facts: Record<string, string> = {};
  for (const name of WINDOWS_FACTS) {
    const value = fact(name);
    if (value !== undefined) facts[name] = value;
  }
  return {
    ...facts,
    SystemRoot: root,
    windir: root,
    SystemDrive: drive,
    ComSpec: path.win32.join(system, 'cmd.exe'),
    PATH: [folders[0], root, ...folders.slice(1)].join(';'),
    PATHEXT: '.COM;.EXE;.BAT;.CMD;.VBS;.VBE;.JS;.JSE;.WSF;.WSH;.MSC',
    ProgramData: fact('ProgramData') ?? `${drive}\\ProgramData`,
    OS: 'Windows_NT',
    TEMP: temporaryDirectory,
    TMP: temporaryDirectory,
  };
}
