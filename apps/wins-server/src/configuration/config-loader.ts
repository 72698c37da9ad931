import {
  ConfigError,
  ConfigHistory,
  defaultConfigPath,
  loadConfig,
  type LoadedConfig,
  type WinsConfig,
} from '@wins/config';
import { existsSync } from 'node:fs';
import { thisSystem } from '../this-system.js';
import { judgeConfig, type Judging } from './judge-config.js';

export interface DaemonConfigOptions {
  /** True: unknown keys and entries that never match are errors. Default: they are warnings, as at the daemon's start. */
  readonly strict?: boolean;
  /** True for a file that will be copied elsewhere: it must exist, and only its content is judged. Default false. */
  readonly isCopy?: boolean;
  /** System that uses the config. Default: this system. */
  readonly platform?: NodeJS.Platform;
}

export function configFileOf(named: string | undefined): string {
  return named ?? defaultConfigPath();
}

export interface StartConfig {
  readonly loaded: LoadedConfig;
  /** Why the file is unusable; `loaded` is then the previous config. */
  readonly refused?: Error;
}

/** Loads configs, and lets these features judge their parts of them. */
export class ConfigLoader {
  readonly #features: readonly Judging[];

  constructor(features: readonly Judging[]) {
    this.#features = features;
  }

  /** Loads a config that only administrators and this user can change; refuses any other. A `named` file must exist; the default file need not. */
  async load(
    named: string | undefined,
    { strict = false, isCopy = false, platform = process.platform }: DaemonConfigOptions = {},
  ): Promise<LoadedConfig> {
    const trust = thisSystem().fileTrust();
    const loaded = await loadConfig(configFileOf(named), {
      strict,
      platform,
      mustExist: isCopy || named !== undefined,
      trust: isCopy ? { distrustOfFile: () => undefined } : trust,
    });
    const isElsewhere = isCopy || platform !== process.platform;
    return isElsewhere
      ? judgeConfig(loaded, { platform, isStrict: strict }, this.#features)
      : this.#judgeHere(loaded, strict);
  }

  /** Loads the config file. If it is unusable, or empty after a failed copy, loads the previous config. @throws ConfigError */
  async loadForStart(named: string | undefined): Promise<StartConfig> {
    let file: LoadedConfig;
    try {
      file = await this.load(named);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const loaded = await this.loadKept(named).catch((other: unknown) => {
        if (!(other instanceof ConfigError)) throw other;
        throw new ConfigError(error.code, [...error.problems, ...other.problems], { cause: error });
      });
      if (loaded === undefined) throw error;
      return { loaded, refused: error };
    }
    if (file.bytes?.length !== 0) return { loaded: file };
    const kept = await this.loadKept(named).catch(() => undefined);
    if (kept === undefined || kept.bytes?.length === 0) return { loaded: file };
    return { loaded: kept, refused: new Error(`the config file ${file.path} is empty`) };
  }

  /**
   * Loads the config that a daemon served last; undefined if there is none. @throws ConfigError.
   *
   * @param known The config file, if it is loaded. Returned if it has the same bytes.
   */
  async loadKept(
    named: string | undefined,
    known?: LoadedConfig,
  ): Promise<LoadedConfig | undefined> {
    const file = configFileOf(named);
    const history = new ConfigHistory(file, thisSystem().fileTrust());
    const kept = await history.loadServed({ platform: process.platform, known });
    if (known !== undefined && kept?.config === known.config) return known;
    return kept?.found === true ? { ...(await this.#judgeHere(kept)), path: file } : undefined;
  }

  async #judgeHere(loaded: LoadedConfig, isStrict = false): Promise<LoadedConfig> {
    const { fileTrust, tellsClientsApart, pipeAccessFault } = thisSystem();
    const host = { trust: fileTrust(), tellsClientsApart, pipeAccessFault };
    return judgeConfig(loaded, { platform: process.platform, isStrict, host }, this.#features);
  }
}

/** Loads what the daemon needs before its features, such as names of pipes. */
export const baseConfig = new ConfigLoader([]);

/** Loads what a daemon that has stopped had as its config. Without the file, loads the default config. @throws ConfigError */
export async function loadStoppedConfig(file: string): Promise<WinsConfig> {
  const { loaded } = await baseConfig.loadForStart(existsSync(file) ? file : undefined);
  return loaded.config;
}
