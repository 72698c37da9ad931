import { Serial, type HostSystem } from '@wins/base';
import { hostname } from 'node:os';
import { windowsVersion } from '../host-version.js';
import { systemHnsCalls } from './hns-calls.js';
import { findHnsNetwork } from './hns-networks.js';
import { selectAdapter, networkAdapters } from './network-adapters.js';
import { addGatewayRoutes, removeGatewayRoutes } from './gateway-routes.js';
import { inPromise } from '../win32/calls/call.js';
import { systemRouteTable, visibleRoutes } from './routes.js';

/** Loads nothing before the first call. Rejects with WindowsErrors; outside Windows, with code `unavailable`. */
export function windowsHostSystem(): HostSystem {
  // One call to HNS at a time, because each takes a thread and the service may hang.
  const hnsCalls = new Serial();
  return {
    version: () => inPromise(windowsVersion),
    adapter: (which) =>
      inPromise(() => {
        const adapters = networkAdapters();
        const rows = systemRouteTable.read();
        return selectAdapter({ adapters, rows, hostName: hostname() }, which);
      }),
    hnsNetwork: (which) => hnsCalls.run(() => findHnsNetwork(which, systemHnsCalls)),
    routes: () => inPromise(() => visibleRoutes(systemRouteTable.read())),
    addRoutes: (addresses) =>
      inPromise(() => addGatewayRoutes(systemRouteTable, networkAdapters(), addresses)),
    removeRoutes: (addresses) => inPromise(() => removeGatewayRoutes(systemRouteTable, addresses)),
  };
}
