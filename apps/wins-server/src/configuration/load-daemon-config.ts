import { defaultConfigPath, loadConfig, type LoadedConfig } from '@wins/config';
import { thisSystem } from '../this-system.js';
import { judgeConfig } from './judge-config.js';

export interface DaemonConfigOptions {
  /** Whether unknown keys and entries that can never match are errors. Default: warnings, as at the start of the daemon. */
  readonly strict?: boolean;
  /** Whether the file, which must exist, will be copied elsewhere, so that only its content is judged. Default false. */
  readonly isCopy?: boolean;
  /** System that uses the config. Default: this system. */
  readonly platform?: NodeJS.Platform;
}

/** Only administrators and this user may be able to change the file. @param named - Must exist; the default file may be absent. */
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

export async function judgeForThisHost(
  loaded: LoadedConfig,
  isStrict = false,
): Promise<LoadedConfig> {
  const { fileTrust, tellsClientsApart, pipeAccessFault } = await thisSystem();
  const host = { trust: fileTrust(), tellsClientsApart, pipeAccessFault };
  return judgeConfig(loaded, { platform: process.platform, isStrict, host });
}

export function configFileOf(named: string | undefined): string {
  return named ?? defaultConfigPath();
}
