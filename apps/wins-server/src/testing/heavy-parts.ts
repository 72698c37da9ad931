/** The heavy parts as specs run them: with a service for csi-proxy on Linux. */
import { linuxManager, serviceFile } from '../features/csi-proxy/testing/linux-manager.js';
import * as heavyParts from '../heavy-parts.js';

export * from '../heavy-parts.js';

/** Keeps csi-proxy. */
export const csiProxy: typeof heavyParts.csiProxy = () => {
  const { startCsiProxy } = heavyParts.csiProxy();
  const manager = () => linuxManager(serviceFile() ?? '');
  return { startCsiProxy: (parts, wish) => startCsiProxy(parts, wish, manager) };
};
