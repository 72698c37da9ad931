import { hasKeptService } from '@wins/installation';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { RemovedInstallation } from '../../kernel/feature.js';
import { thisSystem } from '../../this-system.js';
import { csiProxySystem } from './csi-proxy-system.js';

const LOG_FILE = 'csi-proxy.log';

/** Removes csi-proxy before an uninstallation removes the config. Returns the reason if csi-proxy stays. */
export async function removeCsiProxy({
  configFile,
  isAdopted,
}: Omit<RemovedInstallation, 'keepsData'>): Promise<string | undefined> {
  const configFolder = path.dirname(path.resolve(configFile));
  const stateFolder = path.join(configFolder, 'csi-proxy');
  const isKept = hasKeptService(stateFolder);
  if (!isKept && !isAdopted) return undefined;
  const { lacks } = csiProxySystem;
  if (lacks !== undefined) return isKept ? lacks : undefined;
  const { startCsiProxy } = await import('./start-csi-proxy.js');
  const options = {
    stateFolder,
    trust: thisSystem().fileTrust(),
    onDecision: () => Promise.resolve(),
    onStatus: () => undefined,
    onWarning: () => undefined,
    removesAdopted: isAdopted,
  };
  await using kept = await startCsiProxy(options, undefined, csiProxySystem.node?.());
  const { state, detail } = await kept.apply();
  if (state !== 'absent') return detail;
  await rm(path.join(configFolder, LOG_FILE), { force: true });
  return undefined;
}
