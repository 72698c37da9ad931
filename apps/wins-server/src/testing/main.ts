/** Daemon for specs: complete, and with csi-proxy on Linux when `WINS_CSI_PROXY_SERVICE` names a file that stands for its service. */
import { csiProxyHost } from '../features/csi-proxy/csi-proxy-port.js';
import { serviceFile } from '../features/csi-proxy/testing/linux-manager.js';

if (serviceFile() !== undefined) csiProxyHost.lacks = undefined;

export * from '../main.js';
