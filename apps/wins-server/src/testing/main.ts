/** The whole daemon, for specs. If `WINS_CSI_PROXY_SERVICE` names a file that replaces the service, csi-proxy works on Linux. */
import { csiProxyHost } from '../features/csi-proxy/csi-proxy-port.js';
import { linuxManager, serviceFile } from '../features/csi-proxy/testing/linux-manager.js';

const file = serviceFile();
if (file !== undefined) {
  csiProxyHost.lacks = undefined;
  csiProxyHost.manager = () => linuxManager(file);
}

export * from '../main.js';
