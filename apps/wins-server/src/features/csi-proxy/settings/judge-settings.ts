import { hasUser, quoteText } from '@wins/wins-program';
import path from 'node:path';
import { expandUrl } from './expand-url.js';
import { judgeVersion } from './judge-version.js';
import { judgeArguments, serviceArguments } from './service-arguments.js';

/** The section `csi-proxy` of a config. */
export interface CsiProxySection {
  /** A template: `%s`, `%v` or `%[1]s` is the version. */
  readonly url: string;
  readonly version: string;
  /** The folder of the kubelet; the path of its program, which Rancher writes, says nothing. */
  readonly kubeletPath: string;
  /** The digest of the archive, 64 hexadecimal digits. */
  readonly sha256?: string;
  /** Flags besides those that are always set. */
  readonly args?: readonly string[];
  /** The folder of the releases. Default: `csi-proxy` beside the config. */
  readonly path?: string;
}

/** The section `tls-config` of a config: how the server of the download is verified. */
export interface DownloadTrust {
  /** Its certificate is not verified: then the digest alone decides. */
  readonly insecure?: boolean;
  /** A PEM file of authorities that are trusted besides those of the system. */
  readonly certFilePath?: string;
}

/** What a node is to have; every path is absolute. */
export interface CsiProxyWish {
  readonly url: string;
  readonly version: string;
  /** In lower case; absent: what the first download of this version had. */
  readonly sha256?: string;
  /** All arguments of the service. */
  readonly args: readonly string[];
  /** Where each release has a folder of its own. */
  readonly folder: string;
  readonly trust: DownloadTrust;
}

/** What is wrong with a key, or doubtful. */
export interface SettingFault {
  /** As in the file: `csi-proxy.url`. */
  readonly keyPath: string;
  readonly found: string;
  readonly wanted: string;
}

/** A wish with what is doubtful about it, or what is wrong with each key. */
export type JudgedSettings =
  | { readonly wish: CsiProxyWish; readonly doubts: readonly SettingFault[] }
  | { readonly faults: readonly SettingFault[] };

/** Where the config is, and for which system. */
export interface SettingsPlace {
  readonly platform: NodeJS.Platform;
  /** The folder of the config file, absolute. */
  readonly configFolder: string;
}

const DIGEST = /^[0-9a-f]{64}$/i;

/** Judges the sections as a whole; nothing is read from disk. Pure. */
export function judgeSettings(
  section: CsiProxySection,
  trust: DownloadTrust,
  { platform, configFolder }: SettingsPlace,
): JudgedSettings {
  const faults: SettingFault[] = [];
  const doubts: SettingFault[] = [];
  const fault = (key: string, found: string, wanted: string): void =>
    void faults.push({ keyPath: key.includes('.') ? key : `csi-proxy.${key}`, found, wanted });
  const isWindows = platform === 'win32';
  const paths = isWindows ? path.win32 : path.posix;
  const { sha256, args: added = [], kubeletPath } = section;

  const version = judgeVersion(section.version);
  if ('found' in version) fault('version', version.found, version.wanted);
  else if (version.doubt !== undefined) {
    doubts.push({ keyPath: 'csi-proxy.version', found: version.doubt, wanted: 'v1.1.3 or later' });
  }
  if (sha256 !== undefined && !DIGEST.test(sha256))
    fault('sha256', quoteText(sha256, { maxLength: 80 }), 'a SHA-256 digest of 64 hex digits');
  const url = expandUrl(section.url, section.version);
  if ('found' in url) fault('url', url.found, url.wanted);
  else {
    const wrong = faultOfAddress(url.url, sha256 !== undefined);
    if (wrong !== undefined) fault('url', wrong.found, wrong.wanted);
  }
  const isAbsolute = (text: string): boolean => isAbsolutePath(text, isWindows);
  if (section.path !== undefined && !isAbsolute(section.path))
    fault('path', quoteText(section.path), 'an absolute path of a folder');
  const kubeletFolder = /\.exe$/i.test(kubeletPath) ? undefined : kubeletPath;
  if (kubeletFolder !== undefined && !isAbsolute(kubeletFolder))
    fault('kubeletPath', quoteText(kubeletPath), 'an absolute path: the folder of the kubelet');
  if ('numbers' in version) {
    const wrong = judgeArguments(added, version.numbers);
    if (wrong !== undefined) fault(`csi-proxy.args[${wrong.index}]`, wrong.found, wrong.wanted);
  }
  if (trust.insecure === true && sha256 === undefined) {
    const wanted = 'csi-proxy.sha256 with it: without a certificate the digest alone decides';
    fault('tls-config.insecure', 'true, and no digest', wanted);
  }
  if (trust.certFilePath !== undefined && !isAbsolute(trust.certFilePath))
    fault('tls-config.certFilePath', quoteText(trust.certFilePath), 'an absolute path');
  if (faults.length > 0 || 'found' in url) return { faults };

  const args = serviceArguments({
    logFile: paths.join(configFolder, 'csi-proxy.log'),
    ...(kubeletFolder !== undefined && { kubeletFolder: paths.resolve(kubeletFolder) }),
    added,
  });
  const wish: CsiProxyWish = {
    ...{ url: url.url, version: section.version, args, trust },
    ...(sha256 !== undefined && { sha256: sha256.toLowerCase() }),
    folder: paths.resolve(section.path ?? paths.join(configFolder, 'csi-proxy')),
  };
  return { wish, doubts };
}

function faultOfAddress(
  url: string,
  hasDigest: boolean,
): { readonly found: string; readonly wanted: string } | undefined {
  // It may have a password in it all the same, and would be in logs.
  if (!URL.canParse(url)) return { found: 'a text that is none', wanted: 'an address' };
  const address = new URL(url);
  if (hasUser(address)) return { found: 'a user or password', wanted: 'an address without them' };
  const { protocol } = address;
  if (protocol === 'https:' || (protocol === 'http:' && hasDigest)) return undefined;
  return { found: `the scheme ${protocol}`, wanted: 'https:, or http: with csi-proxy.sha256' };
}

/** On Windows a path without a drive is one of whatever drive is the current one. */
function isAbsolutePath(text: string, isWindows: boolean): boolean {
  return isWindows ? /^[a-z]:[\\/]/i.test(text) : path.posix.isAbsolute(text);
}
