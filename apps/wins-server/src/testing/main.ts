/** The whole daemon, for specs. If `WINS_CSI_PROXY_SERVICE` names the folder of a node that replaces Windows, csi-proxy works on Linux. */
import { csiProxySystem } from '../features/csi-proxy/csi-proxy-system.js';
import { LinuxCsiNode, nodeFolder } from '../features/csi-proxy/testing/linux-csi-node.js';

const folder = nodeFolder();
if (folder !== undefined) {
  csiProxySystem.lacks = undefined;
  csiProxySystem.node = () => new LinuxCsiNode(folder);
}

export * from '../main.js';
