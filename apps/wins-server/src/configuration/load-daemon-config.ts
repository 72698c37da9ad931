import { loadConfig, refuseValues, type LoadedConfig, type LoadOptions } from '@wins/config';
import { checkProcessEnvironment } from '@wins/process-manager';
import { thisSystem } from '../this-system.js';

/**
 * Loads the config of the daemon: a file that nobody but administrators and this user can change or put in its place.
 *
 * @throws ConfigError
 */
export async function loadDaemonConfig(
  file: string,
  options: LoadOptions = {},
): Promise<LoadedConfig> {
  const { fileTrust } = await thisSystem();
  return judged(await loadConfig(file, { ...options, trust: fileTrust() }));
}

/**
 * Loads a config that will be copied to its place, where another file decides who may change it.
 *
 * @throws ConfigError
 */
export async function loadCopiedConfig(file: string, options: LoadOptions): Promise<LoadedConfig> {
  const trust = { distrustOfFile: () => undefined };
  return judged(await loadConfig(file, { ...options, trust }));
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
