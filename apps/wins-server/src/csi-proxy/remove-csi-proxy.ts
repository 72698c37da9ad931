import { existsSync } from 'node:fs';
import path from 'node:path';
import { thisSystem } from '../this-system.js';
import { csiProxyHost } from './csi-proxy-host.js';
import { loadCsiProxy } from './load-csi-proxy.js';

/**
 * Takes away the csi-proxy that daemons with a config have installed; for an uninstallation, which takes the config away next.
 *
 * @returns Why it stays; undefined when it is gone, or was never there.
 */
export async function removeCsiProxy(configFile: string): Promise<string | undefined> {
  const stateFolder = path.join(path.dirname(configFile), 'csi-proxy');
  if (!existsSync(path.join(stateFolder, 'state.json'))) return undefined;
  const host = csiProxyHost();
  if (host.kind === 'none') return host.reason;
  await using kept = await loadCsiProxy().startCsiProxy(
    {
      ...{ host, stateFolder, trust: (await thisSystem()).fileTrust() },
      onAct: () => Promise.resolve(),
      onEvent: () => undefined,
    },
    undefined,
  );
  const { state } = await kept.apply();
  if (state.kind === 'absent') return undefined;
  return 'detail' in state ? state.detail : `it is ${state.kind}`;
}
