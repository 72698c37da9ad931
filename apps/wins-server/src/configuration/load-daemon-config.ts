import { loadConfig, refuseValues, type LoadedConfig, type LoadOptions } from '@wins/config';
import { checkProcessEnvironment } from '@wins/process-manager';
import { thisSystem } from '../this-system.js';

/**
 * Loads the config of the daemon; on Windows only a file that nobody but administrators can change or put in its place.
 *
 * @throws ConfigError
 */
export async function loadDaemonConfig(
  file: string,
  options: LoadOptions = {},
): Promise<LoadedConfig> {
  const { configDistrust: distrust } = await thisSystem();
  return judged(await loadConfig(file, { ...options, distrust }));
}

/**
 * Loads a config that will be copied to its place, where another file decides who may change it.
 *
 * @throws ConfigError
 */
export async function loadCopiedConfig(file: string, options: LoadOptions): Promise<LoadedConfig> {
  return judged(await loadConfig(file, options));
}

/** Whether the file is well-formed was judged; whether it can be done is known to the libraries that it configures. */
function judged(loaded: LoadedConfig): LoadedConfig {
  const dialect = process.platform === 'win32' ? 'windows' : 'posix';
  const refused = checkProcessEnvironment(loaded.config.processEnvironment, dialect);
  if (refused.length === 0) return loaded;
  const keyPath = 'processEnvironment';
  const expected = 'what is good for every program; one program may get it by "envs" of its entry';
  throw refuseValues(
    loaded,
    refused.map(({ message }) => ({ keyPath, found: message, expected })),
  );
}
