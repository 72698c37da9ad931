import type { WinsConfig } from '@wins/config';
import { judgeSettings, type CsiProxyWish, type SettingFault } from './settings/judge-settings.js';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** What the config says of csi-proxy. */
export type CsiProxySettings =
  /** There is no section. */
  | { readonly kind: 'none'; readonly stateFolder: string }
  | {
      readonly kind: 'wanted';
      readonly stateFolder: string;
      readonly wish: CsiProxyWish;
      readonly doubts: readonly SettingFault[];
    }
  /** Nothing is done, and nothing is taken away. */
  | { readonly kind: 'invalid'; readonly faults: readonly SettingFault[] };

const STATE_FOLDER = 'csi-proxy';

/** Where a daemon with this config has the record of what it installed. */
export function stateFolderOf(configFile: string): string {
  return path.join(path.dirname(path.resolve(configFile)), STATE_FOLDER);
}

/** Whether a daemon has installed something. */
export function hasRecord(stateFolder: string): boolean {
  return existsSync(path.join(stateFolder, 'state.json'));
}

/** Where the installer of Rancher keeps the config. */
const CONFIG_FOLDER = { win32: 'C:\\etc\\rancher\\wins', other: '/etc/rancher/wins' } as const;

/**
 * Whether csi-proxy is to be kept, and how. Pure.
 *
 * @param file - The config file; one for another system is taken to be where that has it.
 */
export function csiProxySettings(
  { csiProxy, tlsConfig = {} }: Pick<WinsConfig, 'csiProxy' | 'tlsConfig'>,
  file: string,
  platform: NodeJS.Platform = process.platform,
): CsiProxySettings {
  const isWindows = platform === 'win32';
  const paths = isWindows ? path.win32 : path.posix;
  const isHere = isWindows === (process.platform === 'win32');
  const usual = isWindows ? CONFIG_FOLDER.win32 : CONFIG_FOLDER.other;
  const configFolder = isHere ? path.dirname(path.resolve(file)) : usual;
  const stateFolder = paths.join(configFolder, STATE_FOLDER);
  if (csiProxy === undefined) return { kind: 'none', stateFolder };
  const judged = judgeSettings(csiProxy, tlsConfig, { platform, configFolder });
  if ('faults' in judged) return { kind: 'invalid', faults: judged.faults };
  return { kind: 'wanted', stateFolder, ...judged };
}
