import type { CsiProxySettings as CsiProxySection, TlsSettings, WinsConfig } from '@wins/config';
import { quoteText } from '@wins/base';
import path from 'node:path';
import { judgeArguments, judgeUrl, judgeVersion, type Fault } from './judge-release.js';

/** Desired state of a node; all paths are absolute. */
export interface CsiProxyWish {
  readonly url: string;
  readonly version: string;
  /** Digest in lower case; absent: the digest of this version's first download. */
  readonly sha256?: string;
  readonly args: readonly string[];
  /** Parent folder; each release has its own folder in it. */
  readonly folder: string;
  /** Verification of the download server. */
  readonly trust: TlsSettings;
}

/** Fault of a key in the spelling of the file, such as `csi-proxy.url`. */
export interface SettingFault extends Fault {
  readonly keyPath: string;
}

export type CsiProxySettings =
  | { readonly kind: 'none'; readonly stateFolder: string }
  | {
      readonly kind: 'wanted';
      readonly stateFolder: string;
      readonly wish: CsiProxyWish;
      readonly doubts: readonly SettingFault[];
    }
  /** Invalid section: nothing is installed and nothing is removed. */
  | { readonly kind: 'invalid'; readonly faults: readonly SettingFault[] };

/** Config folder of Rancher's installer. */
const CONFIG_FOLDER = { win32: 'C:\\etc\\rancher\\wins', other: '/etc/rancher/wins' } as const;

/** Reads nothing from disk. Pure. @param file - Config file; another system's default path is assumed for that system. */
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
  // Rancher sets this to the path of the program, which does not name a folder.
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
    fault('tls-config.insecure', 'true, and no digest', wanted);
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
  const wish: CsiProxyWish = {
    ...{ url, version: section.version, args, trust },
    ...(section.sha256 !== undefined && { sha256: section.sha256 }),
    folder: paths.resolve(section.path ?? stateFolder),
  };
  return { kind: 'wanted', stateFolder, wish, doubts };
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
