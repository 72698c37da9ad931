import type { FileTrust } from '@wins/trusted-files';
import { thisSystem } from '../../this-system.js';
import { csiProxyHost, hasRecord, stateFolderOf } from './csi-proxy-host.js';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { heavyParts, type HeavyParts } from '../../load-heavy-parts.js';

/** File that csi-proxy itself writes, beside the config. */
const LOG_FILE = 'csi-proxy.log';

/** Options of the removal. */
export interface RemoveCsiProxyOptions {
  /** Default: that of this system. */
  readonly trust?: FileTrust;
  /** Default: the program beside this one. */
  readonly load?: HeavyParts['csiProxy'];
}

/**
 * Takes away the csi-proxy that daemons with a config have installed; for an uninstallation, which takes the config away next.
 *
 * @param isAdopted - Whether the installation was made by the original, whose csi-proxy goes then too.
 * @returns Why it stays; undefined when it is gone, or was never there.
 */
export async function removeCsiProxy(
  configFile: string,
  isAdopted: boolean,
  { trust, load = () => heavyParts().csiProxy() }: RemoveCsiProxyOptions = {},
): Promise<string | undefined> {
  const stateFolder = stateFolderOf(configFile);
  const isKept = hasRecord(stateFolder);
  if (!isKept && !isAdopted) return undefined;
  const { lacks } = csiProxyHost;
  if (lacks !== undefined) return isKept ? lacks : undefined;
  await using kept = await load().startCsiProxy(
    {
      ...{ stateFolder, trust: trust ?? (await thisSystem()).fileTrust() },
      onAct: () => Promise.resolve(),
      ...{ onState: () => undefined, onWarning: () => undefined },
      removesGo: isAdopted,
    },
    undefined,
  );
  const state = await kept.apply();
  if (state.kind === 'absent') {
    await rm(path.join(path.dirname(configFile), LOG_FILE), { force: true });
    return undefined;
  }
  return 'detail' in state ? state.detail : `it is ${state.kind}`;
}
