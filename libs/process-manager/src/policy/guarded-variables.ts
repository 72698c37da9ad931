import { RUN_MARKER_VARIABLE, quoteText } from '@wins/wins-program';
import { foldAscii, type PathDialect } from './parsed-path.js';

// Upper case unless programs read them so; a trailing `*` means every name with that beginning.
// These make a program load code that the setter chose. They suit one program, never all of them.
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

// These lead a tool to a configuration, a helper program or a folder, which may name code in its turn.
const TOOL_VARIABLES = (
  'HOME HOMEDRIVE HOMEPATH USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA ALLUSERSPROFILE PUBLIC XDG_* ' +
  'TMP TEMP TMPDIR TAR_* TAPE GIT_* SSH_* SVN_* HGRCPATH CVS_* RSYNC_* GOFLAGS GOROOT GOPATH GOENV GOTOOLDIR ' +
  'CARGO* RUST* CC CXX MAKE* ' +
  'CURL_* WGETRC SYSTEM_WGETRC SSL_* SSLKEYLOGFILE PAGER MANPAGER LESS* EDITOR VISUAL BROWSER SHELL ' +
  'VIM* NVIM* EMACS* EXINIT TERMINFO* TERMCAP GREP_OPTIONS GZIP BZIP* XZ_* ZIP* UNZIP* ' +
  'KUBECONFIG DOCKER_* CONTAINERD_* AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE CLOUDSDK_* ' +
  'ANSIBLE_* GNUPGHOME NETRC'
).split(' ');

// These belong to the system: what a name without a folder means, and where Windows is.
const SYSTEM_VARIABLES =
  'PATH PATHEXT COMSPEC PSMODULEPATH SYSTEMROOT SYSTEMDRIVE WINDIR NODEFAULTCURRENTDIRECTORYINEXEPATH'.split(
    ' ',
  );

const FOR_CLIENTS = [...LOADER_VARIABLES, ...TOOL_VARIABLES, ...SYSTEM_VARIABLES];

/**
 * Whether a client may set this variable only where an entry names it exactly: it is known to make some program do more than
 * its arguments say. No such list is complete, which is why a client may set nothing that an entry does not grant.
 */
export function isGuardedVariable(name: string, dialect: PathDialect): boolean {
  return isReserved(name, dialect) || matches(name, FOR_CLIENTS, dialect);
}

/** Whether the variable makes programs load foreign code, so that it must not be given to all of them alike. */
export function isLoaderVariable(name: string, dialect: PathDialect): boolean {
  return isReserved(name, dialect) || matches(name, LOADER_VARIABLES, dialect);
}

/** Whether it is the mark of a run, which clients and operators cannot set. */
export function isRunMarker(name: string, dialect: PathDialect): boolean {
  return comparable(name, dialect) === RUN_MARKER_VARIABLE;
}

/** The key under which a name is compared: on Windows without regard to the case of A to Z. */
export function variableKey(name: string, dialect: PathDialect): string {
  return dialect === 'windows' ? foldAscii(name) : name;
}

// Ours: where the pipes are, and which service is upgraded.
function isReserved(name: string, dialect: PathDialect): boolean {
  return isRunMarker(name, dialect) || comparable(name, dialect).startsWith('WINS_');
}

// On POSIX `ld_preload` is a harmless name of its own.
function comparable(name: string, dialect: PathDialect): string {
  if (dialect === 'posix') return name;
  return name.replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

function matches(name: string, patterns: readonly string[], dialect: PathDialect): boolean {
  const compared = comparable(name, dialect);
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? compared.startsWith(pattern.slice(0, -1)) : compared === pattern,
  );
}

/**
 * Says which variables may not be given to every run alike, because programs load code by them: name by name, why. An entry
 * may grant such a one to the clients of its program (`envs`). Pure; empty when all is well.
 */
export function checkProcessEnvironment(
  environment: Readonly<Record<string, string>>,
  dialect: PathDialect,
): readonly { readonly name: string; readonly message: string }[] {
  return Object.keys(environment)
    .filter((name) => isLoaderVariable(name, dialect))
    .map((name) => ({
      name,
      message: `the variable ${quoteText(name)}, which changes what programs load`,
    }));
}
