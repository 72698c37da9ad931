import { loadConfig, type LoadedConfig, type LoadOptions } from '@wins/config';

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
  return (await import('./windows-config-distrust.js')).windowsConfigDistrust(file);
}
