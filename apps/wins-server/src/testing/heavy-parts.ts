/** Replaces `heavy-parts.ts` in specs: a file simulates the service of csi-proxy. */
import { linuxManager, serviceFile } from '../features/csi-proxy/testing/linux-manager.js';
import * as heavyParts from '../heavy-parts.js';

export * from '../heavy-parts.js';

export const csiProxy: typeof heavyParts.csiProxy = () => {
  const { startCsiProxy } = heavyParts.csiProxy();
  const manager = () => linuxManager(serviceFile() ?? '');
  return { startCsiProxy: (parts, desired) => startCsiProxy(parts, desired, manager) };
};
