/**
 * csi-proxy on a node of Windows: fetched, verified, unpacked, made a service of, proven, upgraded and taken away, as a config wants it.
 *
 * It owns: the rules of the config section, the decision what is next, the archive, the folder of the releases and the record of what was done. It
 * does not own: how something is downloaded, the service manager, who is trusted; those are ports.
 *
 * ```ts
 * const judged = judgeSettings(
 *   { url: 'https://example.com/csi-proxy-%s.tar.gz', version: 'v1.1.3', kubeletPath: 'C:/var/lib/kubelet' },
 *   {},
 *   { platform: 'win32', configFolder: 'C:\\etc\\rancher\\wins' },
 * );
 * ```
 *
 * @packageDocumentation
 */
export type { ArchiveLimits } from './archive/archive-limits.js';
export { createCsiProxy } from './create-csi-proxy.js';
export type {
  CsiProxy,
  CsiProxyAct,
  CsiProxyEvent,
  CsiProxyOptions,
  CsiProxyStatus,
} from './csi-proxy.js';
export { CsiProxyError, type CsiProxyErrorCode } from './csi-proxy-error.js';
export { LinuxService } from './linux-service.js';
export type { CsiProxyState } from './decide/component-state.js';
export type { Decision } from './decide/decide.js';
export type { ServiceCommand } from './decide/install-record.js';
export type { CsiProxyService, Download, ServiceFacts } from './ports.js';
export {
  judgeSettings,
  type CsiProxySection,
  type CsiProxyWish,
  type DownloadTrust,
  type JudgedSettings,
  type SettingFault,
  type SettingsPlace,
} from './settings/judge-settings.js';
