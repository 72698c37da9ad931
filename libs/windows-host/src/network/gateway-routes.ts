import { formatNetwork, readRouteDestinations, type IpNetwork } from '@wins/base';
import { type AdapterEntry, defaultRoute } from './network-adapters.js';
import { isOnLink, PROTOCOL, type ForwardRow, type RouteTable } from './routes.js';
import { WindowsError } from '../windows-error.js';

/**
 * Adds a route to each host or network (`8.8.8.8`, `10.1.0.0/16`, `2001:db8::1`) along the default route of its
 * family. Leaves an existing route alone. Reads the table again, because a call may wrongly report success.
 *
 * @throws WindowsError `invalidArgument` before anything is changed, `notFound` without a default route,
 * `notVerified`, `accessDenied`.
 */
export function addGatewayRoutes(
  table: RouteTable,
  adapters: readonly AdapterEntry[],
  addresses: readonly string[],
): void {
  const rows = table.read();
  const missing = destinationsOf('add', addresses)
    .map((destination) => routeTo(destination, { adapters, rows }))
    .filter((wanted) => !rows.some((row) => leadsAlike(row, wanted)));
  if (missing.length === 0) return;
  for (const wanted of missing) table.add(wanted);
  const after = table.read();
  const failed = missing.filter((wanted) => !after.some((row) => leadsAlike(row, wanted)));
  verify('add', failed);
}

/**
 * Removes the gateway routes to exactly these hosts and networks, if a program or an administrator added them.
 * Reads the table again and requires that none is left. Ignores missing routes.
 *
 * @throws WindowsError `invalidArgument` before anything is changed, `notVerified`, `accessDenied`.
 */
export function removeGatewayRoutes(table: RouteTable, addresses: readonly string[]): void {
  const destinations = destinationsOf('remove', addresses);
  const isMeant = ({ destination, nextHop, protocol }: ForwardRow): boolean =>
    protocol === PROTOCOL.netmgmt &&
    !isOnLink(nextHop) &&
    destinations.some((meant) => isSame(meant, destination));
  const meant = table.read().filter(isMeant);
  if (meant.length === 0) return;
  for (const row of meant) table.remove(row);
  verify('remove', table.read().filter(isMeant));
}

function destinationsOf(verb: string, texts: readonly string[]): readonly IpNetwork[] {
  const read = readRouteDestinations(texts);
  if ('refused' in read) {
    throw new WindowsError('invalidArgument', `cannot ${verb} routes: ${read.refused}`);
  }
  return read.networks;
}

function routeTo(
  destination: IpNetwork,
  state: { readonly adapters: readonly AdapterEntry[]; readonly rows: readonly ForwardRow[] },
): ForwardRow {
  const { length } = destination.bytes;
  const route = defaultRoute(state, length);
  if (route === undefined || isOnLink(route.nextHop)) {
    const family = length === 4 ? 'IPv4' : 'IPv6';
    const found = `there is no ${family} default route through a gateway`;
    const message = `cannot add a route to ${formatNetwork(destination)}: ${found}`;
    throw new WindowsError('notFound', message);
  }
  return { ...route, destination, protocol: PROTOCOL.netmgmt };
}

function leadsAlike(a: ForwardRow, b: ForwardRow): boolean {
  return (
    isSame(a.destination, b.destination) &&
    Buffer.compare(a.nextHop, b.nextHop) === 0 &&
    a.interfaceIndex === b.interfaceIndex
  );
}

function isSame(a: IpNetwork, b: IpNetwork): boolean {
  return a.prefix === b.prefix && Buffer.compare(a.bytes, b.bytes) === 0;
}

function verify(verb: 'add' | 'remove', failed: readonly ForwardRow[]): void {
  if (failed.length === 0) return;
  const destinations = failed.map(({ destination }) => formatNetwork(destination)).join(', ');
  const state = verb === 'add' ? 'are not in' : 'are still in';
  const found = `the system reported success, but they ${state} the routing table`;
  throw new WindowsError('notVerified', `cannot ${verb} routes to ${destinations}: ${found}`);
}
