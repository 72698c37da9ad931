import { hasUser, quoteText } from '@wins/base';
import type { JudgedValue, LoadedConfig, TlsSettings, WinsConfig } from '@wins/config';
import path from 'node:path';
import type { JudgingOptions } from '../../../kernel/judging-options.js';

type CsiProxySection = NonNullable<WinsConfig['csiProxy']>;

const NO_EFFECT = { severity: 'warning', code: 'noEffect' } as const;

/** Completes "found …; wanted …". */
export interface Fault {
  readonly found: string;
  readonly wanted: string;
}

type VersionNumbers = readonly [major: number, minor: number, patch: number];

const VERSION =
  /^v?(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})(-[0-9A-Za-z]+(?:[.-][0-9A-Za-z]+)*)?$/;
const MAX_VERSION = 64;
const FIRST: VersionNumbers = [1, 0, 0];
/** First release in which a path cannot inject a command. */
const SAFE: VersionNumbers = [1, 1, 3];

/** Accepts only strict versions, such as `v1.1.3` or `1.1.3-rc.1`, because the version becomes part of an address and of a folder name. */
export function judgeVersion(
  text: string,
): Fault | { readonly numbers: VersionNumbers; readonly doubt?: string } {
  const wanted = 'a release such as v1.1.3';
  const parts = text.length > MAX_VERSION ? null : VERSION.exec(text);
  if (parts === null) return { found: quoteText(text, { maxLength: MAX_VERSION }), wanted };
  const numbers = [Number(parts[1]), Number(parts[2]), Number(parts[3])] as const;
  const [major] = numbers;
  if (major >= 2) {
    const found = `${text}: since v2 csi-proxy is a library for drivers in HostProcess containers and has no program to install`;
    return { found, wanted: `${wanted}, or no section csi-proxy` };
  }
  if (major < 1) return { found: `${text}, which cannot be a service`, wanted };
  const isSafe = isAtLeast(numbers, SAFE) && parts[4] === undefined;
  if (isSafe || isAtLeast(numbers, [1, 1, 4])) return { numbers };
  const doubt = `${text} lets everybody who can mount a volume run commands on the host; v1.1.3 is the first safe release`;
  return { numbers, doubt };
}

function isAtLeast(numbers: VersionNumbers, other: VersionNumbers): boolean {
  const index = numbers.findIndex((number, at) => number !== other[at]);
  return index === -1 || (numbers[index] ?? 0) > (other[index] ?? 0);
}

const VERBS = '%s, %v or %[1]s for the version, and %% for a percent sign';
const VERSION_VERBS: ReadonlySet<string> = new Set(['%s', '%v', '%[1]s']);
const VERB = /%(?:\[\d*\])?.?/gu;

/** Inserts the version as Go's Printf does. Refuses templates for which Go would print an error: another verb, a second `%s`, or no verb. */
export function judgeUrl({ url: template, version, sha256 }: CsiProxySection): Fault | string {
  const faults: Fault[] = [];
  let verbCount = 0;
  const url = template.replace(VERB, (verb, at: number) => {
    if (verb === '%%') return '%';
    const column = at + 1;
    if (!VERSION_VERBS.has(verb)) {
      faults.push({ found: `${JSON.stringify(verb)} at column ${column}`, wanted: VERBS });
    } else if (verb !== '%[1]s' && verbCount > 0) {
      // A verb without a number takes the next argument, but there is only one.
      const found = `a second placeholder, ${verb}, at column ${column}`;
      faults.push({ found, wanted: '%[1]s there, which is the version again' });
    }
    verbCount += 1;
    return version;
  });
  if (verbCount === 0)
    faults.push({
      found: `no placeholder for the version in ${template.length} columns`,
      wanted: VERBS,
    });
  if (faults[0] !== undefined) return faults[0];
  // Don't quote the address: it may contain a password, and messages go to logs.
  if (!URL.canParse(url)) return { found: 'not an address', wanted: 'an address' };
  const address = new URL(url);
  if (hasUser(address)) return { found: 'a user or password', wanted: 'an address without them' };
  const { protocol } = address;
  if (protocol === 'https:' || (protocol === 'http:' && sha256 !== undefined)) return url;
  return { found: `the scheme ${protocol}`, wanted: 'https:, or http: with csi-proxy.sha256' };
}

/** Permitted flags, each with the first release that knows it. csi-proxy exits if it gets an unknown flag. */
const ALLOWED: Readonly<Partial<Record<string, VersionNumbers>>> = {
  add_dir_header: FIRST,
  alsologtostderr: FIRST,
  log_file_max_size: FIRST,
  'metrics-bind-address': [1, 3, 0],
  'require-privacy': [1, 2, 0],
  skip_headers: FIRST,
  skip_log_headers: FIRST,
  stderrthreshold: FIRST,
  v: FIRST,
  vmodule: FIRST,
  'working-dir': [1, 1, 0],
};

/** Flags that the daemon sets, each with the config key that changes it, or why there is none. */
const OURS: Readonly<Partial<Record<string, string>>> = {
  'windows-service': 'none: a service always has it',
  log_file: 'none: the log is beside the config',
  logtostderr: 'none: a service has no standard error',
  'kubelet-path': 'kubeletPath, a folder',
};

const FLAG = /^--?([A-Za-z][A-Za-z0-9_-]*)(?:=.*)?$/su;
const MAX_ARGUMENTS = 64;
const MAX_ARGUMENT = 1024;

/** Accepts only complete flags, such as `-v=4`. Version `numbers` of csi-proxy must know the flag, and the daemon must not set the same flag. */
export function judgeArguments(
  added: readonly string[],
  numbers: VersionNumbers,
): (Fault & { readonly index: number }) | undefined {
  if (added.length > MAX_ARGUMENTS) {
    const found = `${added.length} arguments`;
    return { index: MAX_ARGUMENTS, found, wanted: `at most ${MAX_ARGUMENTS}` };
  }
  for (const [index, argument] of added.entries()) {
    const name = argument.length > MAX_ARGUMENT ? undefined : FLAG.exec(argument)?.[1];
    if (name === undefined) {
      const found = quoteText(argument, { maxLength: 64 });
      return { index, found, wanted: 'one flag with its value, such as -v=4' };
    }
    const instead = Object.hasOwn(OURS, name) ? OURS[name] : undefined;
    if (instead !== undefined) return { index, found: `-${name}`, wanted: instead };
    const since = Object.hasOwn(ALLOWED, name) ? ALLOWED[name] : undefined;
    if (since === undefined) {
      const found = `-${name}, which is not a permitted flag of csi-proxy`;
      return { index, found, wanted: `one of -${Object.keys(ALLOWED).join(', -')}` };
    }
    if (!isAtLeast(numbers, since)) {
      const found = `-${name}, which makes ${numbers.join('.')} exit`;
      return { index, found, wanted: `version v${since.join('.')} or later for it` };
    }
  }
  return undefined;
}

/** All paths are absolute. */
export interface DesiredCsiProxy {
  readonly url: string;
  readonly version: string;
  /** Lower-case hex. If absent, later downloads of the version must have the digest of the first. */
  readonly sha256?: string;
  readonly args: readonly string[];
  /** Contains a folder for each release. */
  readonly folder: string;
  readonly trust: TlsSettings;
}

/** `keyPath` is spelled as in the file, such as `csi-proxy.url`. */
export interface SettingFault extends Fault {
  readonly keyPath: string;
}

export type CsiProxySettings =
  | { readonly kind: 'none'; readonly stateFolder: string }
  | {
      readonly kind: 'wanted';
      readonly stateFolder: string;
      readonly desired: DesiredCsiProxy;
      readonly doubts: readonly SettingFault[];
    }
  /** Nothing is installed, and nothing removed. */
  | { readonly kind: 'invalid'; readonly faults: readonly SettingFault[] };

/** Config folder of Rancher's installer. */
const CONFIG_FOLDER = { win32: 'C:\\etc\\rancher\\wins', other: '/etc/rancher/wins' } as const;

/** Does not read the disk. If `platform` is not this host's system, ignores `file` (the path of the config) and assumes the default config folder. */
export function csiProxySettings(
  { csiProxy: section, tlsConfig: trust = {} }: Pick<WinsConfig, 'csiProxy' | 'tlsConfig'>,
  file: string,
  platform: NodeJS.Platform = process.platform,
): CsiProxySettings {
  const isWindows = platform === 'win32';
  const paths = isWindows ? path.win32 : path.posix;
  const isHere = isWindows === (process.platform === 'win32');
  const usual = isWindows ? CONFIG_FOLDER.win32 : CONFIG_FOLDER.other;
  const configFolder = isHere ? path.dirname(path.resolve(file)) : usual;
  const stateFolder = paths.join(configFolder, 'csi-proxy');
  if (section === undefined) return { kind: 'none', stateFolder };

  const { kubeletPath } = section;
  // Rancher sets this key to a program instead of a folder; such a value is ignored.
  const kubeletFolder = /\.exe$/i.test(kubeletPath) ? undefined : kubeletPath;
  const { url, doubts, faults } = judgeRelease(section);
  const fault = (keyPath: string, found: string, wanted: string): void =>
    void faults.push({ keyPath, found, wanted });
  const wantAbsolute = (keyPath: string, text: string | undefined, wanted: string): void => {
    // On Windows a path without a drive letter depends on the current drive.
    const isAbsolute = isWindows ? /^[a-z]:[\\/]/i : /^\//;
    if (text !== undefined && !isAbsolute.test(text)) fault(keyPath, quoteText(text), wanted);
  };
  wantAbsolute('csi-proxy.path', section.path, 'an absolute path of a folder');
  wantAbsolute(
    'csi-proxy.kubeletPath',
    kubeletFolder,
    'an absolute path: the folder of the kubelet',
  );
  if (trust.insecure === true && section.sha256 === undefined) {
    const wanted = 'csi-proxy.sha256 with it: without a certificate check only the digest protects';
    fault('tls-config.insecure', 'true without a digest', wanted);
  }
  wantAbsolute('tls-config.certFilePath', trust.certFilePath, 'an absolute path');
  if (faults.length > 0) return { kind: 'invalid', faults };

  // Fixed order, so that equal settings give equal arguments.
  const args = [
    '-windows-service',
    `-log_file=${paths.join(configFolder, 'csi-proxy.log')}`,
    '-logtostderr=false',
    ...(kubeletFolder === undefined ? [] : [`-kubelet-path=${paths.resolve(kubeletFolder)}`]),
    ...(section.args ?? []),
  ];
  const desired: DesiredCsiProxy = {
    url,
    version: section.version,
    args,
    trust,
    ...(section.sha256 !== undefined && { sha256: section.sha256 }),
    folder: paths.resolve(section.path ?? stateFolder),
  };
  return { kind: 'wanted', stateFolder, desired, doubts };
}

function judgeRelease(section: CsiProxySection) {
  const faults: SettingFault[] = [];
  const doubts: SettingFault[] = [];
  const version = judgeVersion(section.version);
  const keyPath = 'csi-proxy.version';
  if ('found' in version) faults.push({ keyPath, ...version });
  else if (version.doubt !== undefined)
    doubts.push({ keyPath, found: version.doubt, wanted: 'v1.1.3 or later' });
  const url = judgeUrl(section);
  if (typeof url !== 'string') faults.push({ keyPath: 'csi-proxy.url', ...url });
  const fault =
    'found' in version ? undefined : judgeArguments(section.args ?? [], version.numbers);
  if (fault !== undefined) {
    const { index, ...found } = fault;
    faults.push({ keyPath: `csi-proxy.args[${index}]`, ...found });
  }
  return { url: typeof url === 'string' ? url : '', faults, doubts };
}

/** A fault turns off csi-proxy only; the daemon still serves. */
export function judgeCsiProxy(
  { config, path }: LoadedConfig,
  { platform, isStrict }: JudgingOptions,
): readonly JudgedValue[] {
  const settings = csiProxySettings(config, path, platform);
  if (settings.kind === 'none') return [];
  if (settings.kind === 'invalid')
    return settings.faults.map(({ keyPath, found, wanted: expected }) => ({
      ...(isStrict ? ({ severity: 'error' } as const) : NO_EFFECT),
      keyPath,
      found,
      expected,
      nextStep: 'correct it: csi-proxy stays unchanged until then',
    }));
  const doubts = settings.doubts.map(({ keyPath, found, wanted: expected }): JudgedValue => ({
    severity: 'warning',
    code: 'doubtful',
    keyPath,
    found,
    expected,
  }));
  if (platform === 'win32') return doubts;
  const found = `a section for Windows nodes, on ${platform}`;
  const unused = { keyPath: 'csi-proxy', found, expected: 'none', nextStep: 'remove it' };
  return [...doubts, { ...NO_EFFECT, ...unused }];
}
