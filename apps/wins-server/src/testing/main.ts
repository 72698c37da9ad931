/** The whole daemon, for specs. With `WINS_CSI_PROXY_SERVICE`, a file that stands for the service, it keeps csi-proxy on Linux. */
import { csiProxyHost } from '../features/csi-proxy/csi-proxy-port.js';
import { serviceFile } from '../features/csi-proxy/testing/linux-manager.js';

if (serviceFile() !== undefined) csiProxyHost.lacks = undefined;

export * from '../main.js';
