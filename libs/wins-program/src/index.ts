/**
 * What every wins program says the same way: its version, its names, quoted text, durations, exit codes.
 *
 * @packageDocumentation
 */
export {
  formatAddress,
  formatNetwork,
  networkOf,
  overlap,
  parseAddress,
  parseNetwork,
  unroutableReason,
  type IpNetwork,
} from './ip-network.js';
export {
  MAX_ROUTE_DESTINATIONS,
  readRouteDestinations,
  type RouteDestinations,
} from './route-destinations.js';
export { RUN_MARKER_VARIABLE, SERVICE_NAME } from './names.js';
