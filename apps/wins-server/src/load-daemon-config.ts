import { loadConfig, type LoadedConfig, type LoadOptions } from '@wins/config';
import path from 'node:path';

/**
 * Loads the config of the daemon; on Windows only a file that nobody but administrators can change or put in its place.
 *
 * @throws ConfigError
 */
export function loadDaemonConfig(file: string, options: LoadOptions = {}): Promise<LoadedConfig> {
  const distrust = process.platform === 'win32' ? windowsDistrust : undefined;
  return loadConfig(file, { ...options, distrust });
}

async function windowsDistrust(file: string): Promise<string | undefined> {
  const { distrustOfFile } = await import('@wins/windows-host');
  const distrust = distrustOfFile(path.win32.resolve(file));
  return distrust && `${distrust.path}: ${distrust.found}`;
}
