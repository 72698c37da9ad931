import { hostname } from 'node:os';
import { windowsVersion, type WindowsVersion } from '../host-version.js';
import { findHnsNetwork, systemHnsCalls } from './hns-networks.js';
import type { HnsNetwork } from './hns-networks-json.js';
import {
  selectAdapter,
  type NetworkSelector,
  type NetworkAdapter,
} from './network-adapters-selection.js';
import { networkAdapters } from './network-adapters.js';
import { addGatewayRoutes, removeGatewayRoutes } from './gateway-routes.js';
import { systemRouteTable, visibleRoutes, type RouteEntry } from './routes.js';

/** What a daemon asks of the Windows that it runs on. What its methods reject with is a WindowsError. */
export interface WindowsHostSystem {
  /** The release of Windows. */
  version(): Promise<WindowsVersion>;
  /** One network adapter; default the one with the default route. `notFound`, `invalidArgument`. */
  adapter(which?: NetworkSelector): Promise<NetworkAdapter>;
  /** One HNS network. `notFound`, `invalidArgument`, `unavailable` on a host without HNS. */
  hnsNetwork(which: NetworkSelector): Promise<HnsNetwork>;
  /** The routing table, without what the system keeps for itself. */
  routes(): Promise<readonly RouteEntry[]>;
  /** Leads hosts and networks through the gateway of the default route, once; see {@link addGatewayRoutes}. */
  addRoutes(addresses: readonly string[]): Promise<void>;
  /** Removes such routes; see {@link removeGatewayRoutes}. */
  removeRoutes(addresses: readonly string[]): Promise<void>;
}

/** The Windows of this host. Nothing is loaded before the first call; elsewhere each rejects with `unavailable`. */
export function windowsHostSystem(): WindowsHostSystem {
  // One call to HNS at a time, because each takes a thread and the service may hang.
  let lastHnsCall: Promise<unknown> = Promise.resolve();
  const inPromise = <T>(act: () => T): Promise<T> =>
    new Promise((resolve) => {
      resolve(act());
    });
  return {
    version: () => inPromise(windowsVersion),
    adapter: (which) =>
      inPromise(() => {
        const adapters = networkAdapters();
        const rows = systemRouteTable.read();
        return selectAdapter({ adapters, rows, hostName: hostname() }, which);
      }),
    hnsNetwork: (which) => {
      const call = lastHnsCall.then(() => findHnsNetwork(which, systemHnsCalls));
      lastHnsCall = call.catch(() => undefined);
      return call;
    },
    routes: () => inPromise(() => visibleRoutes(systemRouteTable.read())),
    addRoutes: (addresses) =>
      inPromise(() => addGatewayRoutes(systemRouteTable, networkAdapters(), addresses)),
    removeRoutes: (addresses) => inPromise(() => removeGatewayRoutes(systemRouteTable, addresses)),
  };
}
