import { defaultConfigPath, loadConfig, type LoadedConfig } from '@wins/config';
import { thisSystem } from '../this-system.js';
import { judgeConfig } from './judge-config.js';

export interface DaemonConfigOptions {
  /** Whether unknown keys and entries that can never match are errors. Default: warnings, as for a daemon that starts. */
  readonly strict?: boolean;
  /**
   * Whether it is a file that will be copied to its place, where another file decides who may change it: it must exist, and
   * nothing but its content is judged. Default false.
   */
  readonly isCopy?: boolean;
  /** The system that the config is for. Default: this one. */
  readonly platform?: NodeJS.Platform;
}

/**
 * Loads and judges the config of the daemon: a file that administrators and this user alone can change or replace.
 *
 * @param named - The file that someone named, which must exist. Default: the one of the system, which may be absent.
 * @throws ConfigError
 */
export async function loadDaemonConfig(
  named: string | undefined,
  { strict = false, isCopy = false, platform = process.platform }: DaemonConfigOptions = {},
): Promise<LoadedConfig> {
  const trust = (await thisSystem()).fileTrust();
  const loaded = await loadConfig(configFileOf(named), {
    ...{ strict, platform },
    mustExist: isCopy || named !== undefined,
    trust: isCopy ? { distrustOfFile: () => undefined } : trust,
  });
  const isElsewhere = isCopy || platform !== process.platform;
  return isElsewhere
    ? judgeConfig(loaded, { platform, isStrict: strict })
    : judgeForThisHost(loaded, strict);
}

/** Judges a config that is for this host. @throws ConfigError */
export async function judgeForThisHost(
  loaded: LoadedConfig,
  isStrict = false,
): Promise<LoadedConfig> {
  const { fileTrust, tellsClientsApart, pipeAccessFault } = await thisSystem();
  const host = { trust: fileTrust(), tellsClientsApart, pipeAccessFault };
  return judgeConfig(loaded, { platform: process.platform, isStrict, host });
}

/** The config file that is meant: the one that someone named, else the one of the system. */
export function configFileOf(named: string | undefined): string {
  return named ?? defaultConfigPath();
}
