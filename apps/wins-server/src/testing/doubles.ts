/**
 * Doubles in programs for specs. If `WINS_CSI_PROXY_SERVICE` names the folder of a node that replaces Windows, csi-proxy works on Linux.
 * `WINS_SERVICE` names the file of a service that can be upgraded.
 */
import { csiProxySystem } from '../features/csi-proxy/csi-proxy-system.js';
import { LinuxCsiNode, nodeFolder } from '../features/csi-proxy/testing/linux-csi-node.js';
import { upgradeSystem } from '../features/upgrade/upgrader.js';

const folder = nodeFolder();
if (folder !== undefined) {
  csiProxySystem.lacks = undefined;
  csiProxySystem.node = () => new LinuxCsiNode(folder);
}

upgradeSystem.hasServices ||= process.env['WINS_SERVICE'] !== undefined;
