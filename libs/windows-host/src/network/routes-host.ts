import { quoteText } from '@wins/wins-program';
import { formatIpAddress, parseIpNetwork, type IpAddress } from './ip-address.js';
import type { AdapterEntry } from './ip-adapter-addresses.js';
import { PROTOCOL, type ForwardRow } from './ip-forward-row.js';
import { defaultRoute } from './network-adapters-selection.js';
import { isOnLink, isSystemsOwn, type RouteTable } from './routes.js';
import { WindowsError } from '../windows-error.js';

/** More at once are refused: each is looked for in the whole table. */
const MAX_ADDRESSES = 1024;

/**
 * Leads each address (one host: `8.8.8.8`, `8.8.8.8/32`, `2001:db8::1`) where the default route of its family leads. What is
 * there already is left alone. The table is read again and must hold all of them, because a call may claim success.
 *
 * @throws WindowsError `invalid-argument` before anything is changed (also for more than 1,024 addresses), `not-found`
 * without a default route, `not-verified`, `access-denied`.
 */
export function addHostRoutes(
  table: RouteTable,
  adapters: readonly AdapterEntry[],
  addresses: readonly string[],
): void {
  const rows = table.read();
  const missing = hostsOf('add', addresses)
    .map((host) => routeTo(host, { adapters, rows }))
    .filter((wanted) => !rows.some((row) => leadsAlike(row, wanted)));
  if (missing.length === 0) return;
  for (const wanted of missing) table.add(wanted);
  const after = table.read();
  verify(
    'added',
    missing.filter((wanted) => !after.some((row) => leadsAlike(row, wanted))),
  );
}

/**
 * Removes what {@link addHostRoutes} makes, whatever the default route is by now: routes of one host through a gateway that
 * were added by somebody. The table is read again and must hold none of them. What is not there is no error.
 *
 * @throws WindowsError `invalid-argument` before anything is changed, `not-verified`, `access-denied`.
 */
export function removeHostRoutes(table: RouteTable, addresses: readonly string[]): void {
  const hosts = hostsOf('remove', addresses);
  const isMeant = ({ destination, nextHop, protocol }: ForwardRow): boolean =>
    protocol === PROTOCOL.netmgmt &&
    !isOnLink(nextHop) &&
    destination.prefixLength === destination.address.length * 8 &&
    hosts.some((host) => host.equals(destination.address));
  const meant = table.read().filter(isMeant);
  if (meant.length === 0) return;
  for (const row of meant) table.remove(row);
  verify('removed', table.read().filter(isMeant));
}

function hostsOf(verb: string, texts: readonly string[]): readonly IpAddress[] {
  if (texts.length > MAX_ADDRESSES) {
    const found = `found ${texts.length} addresses; wanted at most ${MAX_ADDRESSES}`;
    throw new WindowsError('invalid-argument', `${verb} routes: ${found}`);
  }
  const hosts = new Map<string, IpAddress>();
  for (const text of texts) {
    const network = parseIpNetwork(text);
    const isHost = network?.prefixLength === (network?.address.length ?? 0) * 8;
    if (network === undefined || !isHost || isSystemsOwn(network) || isOnLink(network.address)) {
      const wanted = 'wanted one host that a gateway can reach, such as 192.0.2.1 or 2001:db8::1';
      const tried = `${verb} a route to ${quoteText(text)}`;
      throw new WindowsError('invalid-argument', `${tried}: ${wanted}`);
    }
    hosts.set(network.address.toString('hex'), network.address);
  }
  return [...hosts.values()];
}

function routeTo(
  host: IpAddress,
  state: { readonly adapters: readonly AdapterEntry[]; readonly rows: readonly ForwardRow[] },
): ForwardRow {
  const route = defaultRoute(state, host.length);
  if (route === undefined || isOnLink(route.nextHop)) {
    const family = host.length === 4 ? 'IPv4' : 'IPv6';
    const found = `there is no ${family} default route through a gateway`;
    throw new WindowsError('not-found', `added a route to ${formatIpAddress(host)}: ${found}`);
  }
  const destination = { address: host, prefixLength: host.length * 8 };
  return { ...route, destination, protocol: PROTOCOL.netmgmt };
}

function leadsAlike(a: ForwardRow, b: ForwardRow): boolean {
  return (
    a.destination.prefixLength === b.destination.prefixLength &&
    a.destination.address.equals(b.destination.address) &&
    a.nextHop.equals(b.nextHop) &&
    a.interfaceIndex === b.interfaceIndex
  );
}

function verify(done: 'added' | 'removed', failed: readonly ForwardRow[]): void {
  if (failed.length === 0) return;
  const hosts = failed.map(({ destination }) => formatIpAddress(destination.address)).join(', ');
  const state = done === 'added' ? 'are not in' : 'are still in';
  const found = `the system reported success, and they ${state} the routing table`;
  throw new WindowsError('not-verified', `${done} routes to ${hosts}: ${found}`);
}
