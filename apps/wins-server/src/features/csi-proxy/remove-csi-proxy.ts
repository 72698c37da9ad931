import type { FileTrust } from '@wins/trusted-files';
import { thisSystem } from '../../this-system.js';
import { csiProxyHost, hasRecord, stateFolderOf } from './csi-proxy-port.js';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { RemovedInstallation } from '../../kernel/feature.js';

const LOG_FILE = 'csi-proxy.log';

export type LoadCsiProxy = () => Promise<
  Pick<typeof import('./start-csi-proxy.js'), 'startCsiProxy'>
>;

export interface RemoveCsiProxyOptions {
  readonly trust?: FileTrust;
  readonly load?: LoadCsiProxy;
}

/**
 * Removes csi-proxy before an uninstallation removes the config. Returns the reason if csi-proxy stays.
 */
export async function removeCsiProxy(
  { configFile, isAdopted }: Omit<RemovedInstallation, 'keepsData'>,
  { trust, load = () => import('./start-csi-proxy.js') }: RemoveCsiProxyOptions = {},
): Promise<string | undefined> {
  const stateFolder = stateFolderOf(configFile);
  const isKept = hasRecord(stateFolder);
  if (!isKept && !isAdopted) return undefined;
  const { lacks } = csiProxyHost;
  if (lacks !== undefined) return isKept ? lacks : undefined;
  await using kept = await (
    await load()
  ).startCsiProxy(
    {
      stateFolder,
      trust: trust ?? (await thisSystem()).fileTrust(),
      onDecision: () => Promise.resolve(),
      onState: () => undefined,
      onWarning: () => undefined,
      removesGo: isAdopted,
    },
    undefined,
    csiProxyHost.manager,
  );
  const state = await kept.apply();
  if (state.kind === 'absent') {
    await rm(path.join(path.dirname(configFile), LOG_FILE), { force: true });
    return undefined;
  }
  return 'detail' in state ? state.detail : `it is ${state.kind}`;
}
