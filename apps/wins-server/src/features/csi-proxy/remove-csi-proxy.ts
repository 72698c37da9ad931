import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { RemovedInstallation } from '../../kernel/feature.js';
import { thisSystem } from '../../this-system.js';
import { csiProxySystem, hasRecord, stateFolderOf } from './csi-proxy-system.js';

const LOG_FILE = 'csi-proxy.log';

/** Removes csi-proxy before an uninstallation removes the config. Returns the reason if csi-proxy stays. */
export async function removeCsiProxy({
  configFile,
  isAdopted,
}: Omit<RemovedInstallation, 'keepsData'>): Promise<string | undefined> {
  const stateFolder = stateFolderOf(configFile);
  const isKept = hasRecord(stateFolder);
  if (!isKept && !isAdopted) return undefined;
  const { lacks } = csiProxySystem;
  if (lacks !== undefined) return isKept ? lacks : undefined;
  const { startCsiProxy } = await import('./start-csi-proxy.js');
  const options = {
    stateFolder,
    trust: (await thisSystem()).fileTrust(),
    onDecision: () => Promise.resolve(),
    onStatus: () => undefined,
    onWarning: () => undefined,
    removesGo: isAdopted,
  };
  await using kept = await startCsiProxy(options, undefined, csiProxySystem.node?.());
  const { state, detail } = await kept.apply();
  if (state !== 'absent') return detail;
  await rm(path.join(path.dirname(configFile), LOG_FILE), { force: true });
  return undefined;
}
