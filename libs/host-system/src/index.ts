/**
 * What clients may ask about a host, and which of its routes they may change.
 *
 * It owns: the port to a host, {@link HostSystem}, the reading of destinations, and the judgement whether a route is granted. It does
 * not own: how a system is asked; `testing` has the contract that every host system passes.
 *
 * @example
 * const destinations = parseDestinations(['10.42.1.0/24']);
 * assertGranted(destinations, ['10.42.0.0/16'], ownNetworks(await system.routes()));
 * @module
 */
export {
  HostSystemError,
  hostSystemErrorCode,
  type HostSystemErrorCode,
} from './host-system-error.js';
export type {
  HnsNetwork,
  HnsSubnet,
  HostSystem,
  HostVersion,
  NetworkSelector,
  NetworkAdapter,
  RouteEntry,
} from './host-system.js';
export { ownNetworks, type OwnNetworks } from './own-networks.js';
export { parseDestinations, type Destination } from './route-destinations.js';
export { assertGranted } from './route-grants.js';
