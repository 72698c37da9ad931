import { judgeValues, loadConfig, type LoadedConfig, type LoadOptions } from '@wins/config';
import { checkProcessEnvironment } from '@wins/process-manager';
import { thisSystem } from '../this-system.js';

/**
 * Loads the config of the daemon: a file that administrators and this user alone can change or replace.
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

/** The library has judged the form of the file; the libraries that it configures know which values they can use. */
function judged(loaded: LoadedConfig): LoadedConfig {
  const dialect = process.platform === 'win32' ? 'windows' : 'posix';
  const refused = checkProcessEnvironment(loaded.config.processEnvironment, dialect);
  if (refused.length === 0) return loaded;
  const keyPath = 'processEnvironment';
  const expected =
    'variables that are safe for every program; "envs" of an entry gives one to its program alone';
  return judgeValues(
    loaded,
    refused.map(({ message }) => ({ severity: 'error', keyPath, found: message, expected })),
  );
}
