import type { ListedRoute, RouteHop } from '@wins/base';
import { PROTOCOL, rowsOf, type Row } from './linux-network-items.js';

const UNICAST = '1';
/** RT_SCOPE_LINK of linux/rtnetlink.h. The kernel accepts gateways only in destinations of this scope, or of the narrower scope `host`. */
const LINK_SCOPE = '253';
const NOWHERE: RouteHop = { gateway: '', interface: '' };

/** Whether a route refers to a nexthop object without showing its hops: the kernel with `net.ipv4.nexthop_compat_mode=0`. */
export function needsNextHops(routes: string): boolean {
  return rowsOf(routes).some(isReference);
}

/**
 * Parses the output of `ip -j -N route show`. A route that leads nowhere, to several next hops, or to a next hop of IPv6 gets an empty interface.
 * Omits routes for one type of service (`tos`), which do not conflict with others.
 *
 * Routes of the scope `host` do not count as on-link, although the kernel accepts gateways there: network plugins make such routes to their
 * containers.
 *
 * @param nextHops - Output of `ip -j -N nexthop show`. Required only if {@link needsNextHops}.
 * @throws LinuxError `unknown` for output in another format.
 */
export function parseRoutes(routes: string, nextHops = ''): readonly ListedRoute[] {
  const objects = new Map(rowsOf(nextHops).map((row) => [row['id'], row]));
  return rowsOf(routes).flatMap((row) => {
    const { dst, protocol, metric, type, scope, tos } = row;
    if (typeof dst !== 'string' || tos !== undefined) return [];
    const address = dst === 'default' ? '0.0.0.0/0' : dst;
    const isPlain = type === undefined || type === UNICAST;
    const hops = isPlain ? hopsOf(isReference(row) ? objects.get(row['nhid']) : row, objects) : [];
    const only = hops.length === 1 ? (hops[0] ?? NOWHERE) : NOWHERE;
    return [
      {
        destination: address.includes('/') ? address : `${address}/32`,
        gateway: only.gateway,
        interface: only.interface,
        metric: typeof metric === 'number' ? metric : 0,
        isMarked: String(protocol) === PROTOCOL,
        isOnLink: String(scope) === LINK_SCOPE,
        ...(hops.length > 1 && { hops }),
      },
    ];
  });
}

function isReference({ nhid, dev, nexthops, type }: Row): boolean {
  const isPlain = type === undefined || type === UNICAST;
  return isPlain && nhid !== undefined && dev === undefined && nexthops === undefined;
}

/** Next hops of a route or of a nexthop object. A hop of IPv6, or to nowhere, has no interface. */
function hopsOf(row: Row | undefined, objects: ReadonlyMap<unknown, Row>): readonly RouteHop[] {
  if (row === undefined) return [NOWHERE];
  const { nexthops, group } = row;
  if (Array.isArray(nexthops)) return (nexthops as readonly Row[]).map(hopOf);
  if (!Array.isArray(group)) return [hopOf(row)];
  return (group as readonly Row[]).map(({ id }) => hopOf(objects.get(id) ?? {}));
}

function hopOf({ gateway, via, dev }: Row): RouteHop {
  const isIpv6 = via !== undefined || (typeof gateway === 'string' && gateway.includes(':'));
  return isIpv6 || typeof dev !== 'string'
    ? NOWHERE
    : { gateway: typeof gateway === 'string' ? gateway : '', interface: dev };
}
