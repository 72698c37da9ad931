/** Loads configs as the daemon does: all its features judge their parts. */
import type { LoadedConfig } from '@wins/config';
import { ConfigLoader, type DaemonConfigOptions } from './configuration/config-loader.js';
import { CHECKS } from './features/checks.js';

export { configFileOf } from './configuration/config-loader.js';

const loader = new ConfigLoader(CHECKS);

/** Loads a config that only administrators and this user can change; refuses any other. A `named` file must exist; the default file need not. */
export const loadDaemonConfig = (named: string | undefined, options?: DaemonConfigOptions) =>
  loader.load(named, options);

/** Loads the config file. If it is unusable, or empty after a failed copy, loads the previous config. @throws ConfigError */
export const loadStartConfig = (named: string | undefined) => loader.loadForStart(named);

/** Loads the stored copy of the config that was last in force, or returns `known` if that has the same bytes. Returns undefined if there is no copy. @throws ConfigError. */
export const loadKeptConfig = (named: string | undefined, known?: LoadedConfig) =>
  loader.loadKept(named, known);
