import type { WinsConfig } from '@wins/config';

/**
 * Whether a daemon on this system could tell who connects, as an entry with `for` needs it; true as well for a config that has
 * no such entry, for which nobody has to look.
 */
export async function tellsClientsApart({ whiteList }: WinsConfig): Promise<boolean> {
  if (whiteList.processPaths.every((entry) => entry.for === undefined)) return true;
  if (process.platform !== 'linux') return process.platform === 'win32';
  return (await import('./linux-clients.js')).canTellLinuxClients();
}
