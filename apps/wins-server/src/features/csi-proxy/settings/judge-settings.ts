import { hasUser, quoteText } from '@wins/base';
import type { JudgedValue, LoadedConfig, TlsSettings, WinsConfig } from '@wins/config';
import path from 'node:path';
import type { JudgingOptions } from '../../../kernel/judging-options.js';

type CsiProxySection = NonNullable<WinsConfig['csiProxy']>;

/** `keyPath` is spelled as in the file, such as `csi-proxy.url`. */
export type SettingFault = Pick<JudgedValue, 'keyPath' | 'found' | 'expected'>;
type Fault = Omit<SettingFault, 'keyPath'>;

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

  const { version, sha256, kubeletPath, args = [] } = section;
  const faults: SettingFault[] = [];
  const check = (keyPath: string, fault: Fault | string | undefined): void => {
    if (typeof fault === 'object') faults.push({ keyPath, ...fault });
  };
  const wantAbsolute = (keyPath: string, text: string | undefined, expected: string): void => {
    // On Windows a path without a drive letter depends on the current drive.
    const isAbsolute = isWindows ? /^[a-z]:[\\/]/i : /^\//;
    if (text !== undefined && !isAbsolute.test(text))
      faults.push({ keyPath, found: quoteText(text), expected });
  };
  const numbers = VERSION.exec(version)?.slice(1, 4).map(Number) ?? [];
  check('csi-proxy.version', judgeVersion(version, numbers));
  const url = judgeUrl(section);
  check('csi-proxy.url', url);
  if (args.length > MAX_ARGUMENTS)
    check('csi-proxy.args', {
      found: `${args.length} arguments`,
      expected: `at most ${MAX_ARGUMENTS}`,
    });
  else if (numbers[0] === 1)
    args.forEach((each, at) => check(`csi-proxy.args[${at}]`, judgeArgument(each, numbers)));
  // Rancher sets this key to a program instead of a folder; such a value is ignored.
  const kubeletFolder = /\.exe$/i.test(kubeletPath) ? undefined : kubeletPath;
  wantAbsolute('csi-proxy.path', section.path, 'an absolute path of a folder');
  wantAbsolute(
    'csi-proxy.kubeletPath',
    kubeletFolder,
    'an absolute path: the folder of the kubelet',
  );
  if (trust.insecure === true && sha256 === undefined)
    check('tls-config.insecure', {
      found: 'true without a digest',
      expected: 'csi-proxy.sha256 with it: without a certificate check only the digest protects',
    });
  wantAbsolute('tls-config.certFilePath', trust.certFilePath, 'an absolute path');
  if (faults.length > 0 || typeof url !== 'string') return { kind: 'invalid', faults };

  const desired: DesiredCsiProxy = {
    url,
    version,
    // Fixed order, so that equal settings give equal arguments.
    args: [
      '-windows-service',
      `-log_file=${paths.join(configFolder, 'csi-proxy.log')}`,
      '-logtostderr=false',
      ...(kubeletFolder === undefined ? [] : [`-kubelet-path=${paths.resolve(kubeletFolder)}`]),
      ...args,
    ],
    trust,
    ...(sha256 !== undefined && { sha256 }),
    folder: paths.resolve(section.path ?? stateFolder),
  };
  return { kind: 'wanted', stateFolder, desired, doubts: doubtsAbout(version, numbers) };
}

/** Strict, such as `v1.1.3` or `1.1.3-rc.1`, because the version becomes part of an address and of a folder name. */
const VERSION =
  /^(?=.{1,64}$)v?(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})(-[0-9A-Za-z]+(?:[.-][0-9A-Za-z]+)*)?$/;

/** Major, minor and patch. */
type VersionNumbers = readonly number[];

function judgeVersion(text: string, [major]: VersionNumbers): Fault | undefined {
  const expected = 'a release such as v1.1.3';
  if (major === undefined) return { found: quoteText(text, { maxLength: 64 }), expected };
  if (major < 1) return { found: `${text}, which cannot be a service`, expected };
  if (major === 1) return undefined;
  const found = `${text}: since v2 csi-proxy is a library for drivers in HostProcess containers and has no program to install`;
  return { found, expected: `${expected}, or no section csi-proxy` };
}

function doubtsAbout(text: string, numbers: VersionNumbers): readonly SettingFault[] {
  const isCandidate = text.includes('-');
  if (isAtLeast(numbers, isCandidate ? [1, 1, 4] : [1, 1, 3])) return [];
  const found = `${text} lets everybody who can mount a volume run commands on the host; v1.1.3 is the first safe release`;
  return [{ keyPath: 'csi-proxy.version', found, expected: 'v1.1.3 or later' }];
}

function isAtLeast(numbers: VersionNumbers, other: VersionNumbers): boolean {
  const index = numbers.findIndex((number, at) => number !== other[at]);
  return index === -1 || (numbers[index] ?? 0) > (other[index] ?? 0);
}

const VERBS = '%s, %v or %[1]s for the version, and %% for a percent sign';
const VERSION_VERBS: ReadonlySet<string> = new Set(['%s', '%v', '%[1]s']);
const VERB = /%(?:\[\d*\])?.?/gu;

/** Inserts the version as Go's Printf does. Refuses templates for which Go would print an error: another verb, a second `%s`, or no verb. */
function judgeUrl({ url: template, version, sha256 }: CsiProxySection): Fault | string {
  const verbs = [...template.matchAll(VERB)].filter(([verb]) => verb !== '%%');
  for (const [at, { 0: verb, index }] of verbs.entries()) {
    const column = index + 1;
    if (!VERSION_VERBS.has(verb))
      return { found: `${JSON.stringify(verb)} at column ${column}`, expected: VERBS };
    // A verb without a number takes the next argument, but there is only one.
    if (verb !== '%[1]s' && at > 0) {
      const found = `a second placeholder, ${verb}, at column ${column}`;
      return { found, expected: '%[1]s there, which is the version again' };
    }
  }
  if (verbs.length === 0) {
    const found = `no placeholder for the version in ${template.length} columns`;
    return { found, expected: VERBS };
  }
  const url = template.replace(VERB, (verb) => (verb === '%%' ? '%' : version));
  // Don't quote the address: it may contain a password, and messages go to logs.
  if (!URL.canParse(url)) return { found: 'not an address', expected: 'an address' };
  const address = new URL(url);
  if (hasUser(address)) return { found: 'a user or password', expected: 'an address without them' };
  const { protocol } = address;
  if (protocol === 'https:' || (protocol === 'http:' && sha256 !== undefined)) return url;
  return { found: `the scheme ${protocol}`, expected: 'https:, or http: with csi-proxy.sha256' };
}

const FIRST: VersionNumbers = [1, 0, 0];

/** Permitted flags, each with the first release that knows it. csi-proxy exits if it gets an unknown flag. */
const ALLOWED: ReadonlyMap<string, VersionNumbers> = new Map([
  ['add_dir_header', FIRST],
  ['alsologtostderr', FIRST],
  ['log_file_max_size', FIRST],
  ['metrics-bind-address', [1, 3, 0]],
  ['require-privacy', [1, 2, 0]],
  ['skip_headers', FIRST],
  ['skip_log_headers', FIRST],
  ['stderrthreshold', FIRST],
  ['v', FIRST],
  ['vmodule', FIRST],
  ['working-dir', [1, 1, 0]],
]);

/** Flags that the daemon sets, each with the config key that changes it, or why there is none. */
const OURS: ReadonlyMap<string, string> = new Map([
  ['windows-service', 'none: a service always has it'],
  ['log_file', 'none: the log is beside the config'],
  ['logtostderr', 'none: a service has no standard error'],
  ['kubelet-path', 'kubeletPath, a folder'],
]);

/** With a limit of the whole length. */
const FLAG = /^(?=[^]{1,1024}$)--?([A-Za-z][A-Za-z0-9_-]*)(?:=.*)?$/su;
const MAX_ARGUMENTS = 64;

/** Accepts only a complete flag, such as `-v=4`, that this version knows and the daemon does not set. */
function judgeArgument(argument: string, numbers: VersionNumbers): Fault | undefined {
  const name = FLAG.exec(argument)?.[1];
  if (name === undefined) {
    const found = quoteText(argument, { maxLength: 64 });
    return { found, expected: 'one flag with its value, such as -v=4' };
  }
  const instead = OURS.get(name);
  if (instead !== undefined) return { found: `-${name}`, expected: instead };
  const since = ALLOWED.get(name);
  if (since === undefined) {
    const found = `-${name}, which is not a permitted flag of csi-proxy`;
    return { found, expected: `one of -${[...ALLOWED.keys()].join(', -')}` };
  }
  if (isAtLeast(numbers, since)) return undefined;
  const found = `-${name}, which makes ${numbers.join('.')} exit`;
  return { found, expected: `version v${since.join('.')} or later for it` };
}

/** A fault turns off csi-proxy only; the daemon still serves. */
export function judgeCsiProxy(
  { config, path: file }: LoadedConfig,
  { platform, isStrict }: JudgingOptions,
): readonly JudgedValue[] {
  const settings = csiProxySettings(config, file, platform);
  if (settings.kind === 'none') return [];
  const noEffect = { severity: 'warning', code: 'noEffect' } as const;
  if (settings.kind === 'invalid') {
    const severity = isStrict ? ({ severity: 'error' } as const) : noEffect;
    const nextStep = 'correct it: csi-proxy stays unchanged until then';
    return settings.faults.map((fault) => ({ ...severity, ...fault, nextStep }));
  }
  const doubtful = { severity: 'warning', code: 'doubtful' } as const;
  const doubts = settings.doubts.map((doubt): JudgedValue => ({ ...doubtful, ...doubt }));
  if (platform === 'win32') return doubts;
  const found = `a section for Windows nodes, on ${platform}`;
  const unused = { keyPath: 'csi-proxy', found, expected: 'none', nextStep: 'remove it' };
  return [...doubts, { ...noEffect, ...unused }];
}
