import type { FileTrust } from '@wins/trusted-files';
import { thisSystem } from '../this-system.js';
import { csiProxyHost, type CsiProxyHost } from './csi-proxy-host.js';
import { installedStateFolder } from './csi-proxy-settings.js';
import { loadCsiProxy } from './load-csi-proxy.js';

/** What it is taken away with. */
export interface RemoveCsiProxyOptions {
  /** Default: that of this system. */
  readonly trust?: FileTrust;
  /** Default: as this system has it. */
  readonly host?: CsiProxyHost;
  /** Default: the bundle beside this one. */
  readonly load?: typeof loadCsiProxy;
}

/**
 * Takes away the csi-proxy that daemons with a config have installed; for an uninstallation, which takes the config away next.
 *
 * @returns Why it stays; undefined when it is gone, or was never there.
 */
export async function removeCsiProxy(
  configFile: string,
  { trust, host = csiProxyHost(), load = loadCsiProxy }: RemoveCsiProxyOptions = {},
): Promise<string | undefined> {
  const stateFolder = installedStateFolder(configFile);
  if (stateFolder === undefined) return undefined;
  if (host.kind === 'none') return host.reason;
  await using kept = await load().startCsiProxy(
    {
      ...{ host, stateFolder, trust: trust ?? (await thisSystem()).fileTrust() },
      onAct: () => Promise.resolve(),
      onEvent: () => undefined,
    },
    undefined,
  );
  const { state } = await kept.apply();
  if (state.kind === 'absent') return undefined;
  return 'detail' in state ? state.detail : `it is ${state.kind}`;
}
