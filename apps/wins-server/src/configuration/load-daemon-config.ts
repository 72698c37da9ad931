import {
  ConfigError,
  defaultConfigPath,
  loadConfig,
  loadLastGood,
  type LoadedConfig,
} from '@wins/config';
import path from 'node:path';
import { heavyParts, type HeavyParts } from '../load-heavy-parts.js';
import { thisSystem } from '../this-system.js';
import type { JudgingHost } from './daemon-folders.js';
import { judgeConfig } from './judge-config.js';

export interface DaemonConfigOptions {
  /** True: unknown keys and entries that never match are errors. Default: they are warnings, as at the daemon's start. */
  readonly strict?: boolean;
  /** True for a file that will be copied elsewhere: it must exist, and only its content is judged. Default false. */
  readonly isCopy?: boolean;
  /** System that uses the config. Default: this system. */
  readonly platform?: NodeJS.Platform;
  /** Default: loads the bundle `wins-features.cjs`. */
  readonly nodeAccess?: HeavyParts['nodeAccess'];
}

/** Loads a config that only administrators and this user can change; refuses any other. A `named` file must exist; the default file need not. */
export async function loadDaemonConfig(
  named: string | undefined,
  {
    strict = false,
    isCopy = false,
    platform = process.platform,
    nodeAccess,
  }: DaemonConfigOptions = {},
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
    : judgeForThisHost(loaded, strict, nodeAccess);
}

async function judgeForThisHost(
  loaded: LoadedConfig,
  isStrict = false,
  nodeAccess: HeavyParts['nodeAccess'] = () => heavyParts().nodeAccess(),
) {
  const { fileTrust, tellsClientsApart, pipeAccessFault } = await thisSystem();
  const trust = fileTrust();
  const judgeKubeconfig: JudgingHost['judgeKubeconfig'] = (file) =>
    nodeAccess().judgeKubeconfigFile(file, trust);
  const host = { trust, tellsClientsApart, pipeAccessFault, judgeKubeconfig };
  return judgeConfig(loaded, { platform: process.platform, isStrict, host });
}

export function configFileOf(named: string | undefined): string {
  return named ?? defaultConfigPath();
}

export interface StartConfig {
  readonly loaded: LoadedConfig;
  /** Why the file is unusable; `loaded` is then the previous config. */
  readonly refused?: Error;
}

/** Loads the config file. If it is unusable, or empty after a failed copy, loads the previous config. @throws ConfigError */
export async function loadStartConfig(named: string | undefined): Promise<StartConfig> {
  let file: LoadedConfig;
  try {
    file = await loadDaemonConfig(named);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const loaded = await loadKeptConfig(named).catch((other: unknown) => {
      if (!(other instanceof ConfigError)) throw other;
      throw new ConfigError(error.code, [...error.problems, ...other.problems], { cause: error });
    });
    if (loaded === undefined) throw error;
    return { loaded, refused: error };
  }
  if (file.bytes?.length !== 0) return { loaded: file };
  const kept = await loadKeptConfig(named).catch(() => undefined);
  if (kept === undefined || kept.bytes?.length === 0) return { loaded: file };
  return { loaded: kept, refused: new Error(`the config file ${file.path} is empty`) };
}

/** Loads the stored copy of the config that was last in force. Returns undefined if there is no copy. @throws ConfigError. */
export async function loadKeptConfig(named: string | undefined): Promise<LoadedConfig | undefined> {
  const file = path.resolve(configFileOf(named));
  const trust = (await thisSystem()).fileTrust();
  const kept = await loadLastGood(file, { trust, platform: process.platform });
  if (kept === undefined) return undefined;
  return { ...(await judgeForThisHost(kept)), path: configFileOf(named) };
}
