/** For specs: on Linux csi-proxy has a stand-in for its service. */
import { linuxManager, serviceFile } from '../features/csi-proxy/testing/linux-manager.js';
import * as heavyParts from '../heavy-parts.js';

export * from '../heavy-parts.js';

export const csiProxy: typeof heavyParts.csiProxy = () => {
  const { startCsiProxy } = heavyParts.csiProxy();
  const manager = () => linuxManager(serviceFile() ?? '');
  return { startCsiProxy: (parts, wish) => startCsiProxy(parts, wish, manager) };
};
