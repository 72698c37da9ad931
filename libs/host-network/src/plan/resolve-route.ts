import {
  CONTAINER_NETWORK,
  formatNetwork,
  isIpv4LinkLocal,
  networkOf,
  parseNetwork,
  quoteText,
  unroutableReason,
  type IpNetwork,
  type ListedRoute,
  type RouteHop,
  type RouteInterface,
  type RoutingState,
  type StaticRoute,
} from '@wins/base';
import type { DesiredRoute } from './desired-route.js';
import {
  addressOf,
  extentOf,
  firstAtLeast,
  isInside,
  isWithin,
  meet,
  numberOf,
  textOf,
  type Extent,
} from './extent.js';
import { GatewayLookup, hopsOf, type OnLinkRoute } from './gateway-lookup.js';

/**
 * A desired route with its next hop and interface. `waiting`: the host lacks something that may return, such as its default
 * route. `rejected`: the route would misdirect traffic, or its values are invalid.
 */
export type ResolvedRoute =
  | { readonly kind: 'route'; readonly route: StaticRoute; readonly assumesOnLink: boolean }
  | { readonly kind: 'waiting' | 'rejected'; readonly detail: string };

const ANYWHERE = '0.0.0.0/0';
/** First octet. */
const LOOPBACK = 127;
/** Not a network of the host: cloud metadata services have addresses in it. */
const LINK_LOCAL: Extent = { first: 0xa9fe_0000, last: 0xa9fe_ffff };

/** An address of this host, with the extent of its network. */
interface OwnAddress extends Extent {
  readonly address: number;
  readonly net: IpNetwork;
}

interface Link extends Pick<RouteInterface, 'id' | 'name'> {
  readonly own: readonly OwnAddress[];
  readonly isLoopback: boolean;
}

export interface ResolveOptions {
  /** Whether the route leads to a peer. Such a route never leads to the containers of this host, nor along a default route without gateway. Default: false. */
  readonly isToPeer?: boolean;
  /** The daemon's routes to the same destination. */
  readonly existing?: readonly StaticRoute[];
}

/** A next hop. `destination` is set if all routes through this hop have the same destination. */
interface Hop {
  readonly address: number;
  readonly destination: string | undefined;
}

/** Facts of a {@link RoutingState}, computed once for all routes. */
export class Surroundings {
  readonly #links: readonly Link[];
  /** Next hops of default routes: those through a gateway first, each group with the lowest cost first. */
  readonly #defaults: readonly RouteHop[];
  readonly #lookup: GatewayLookup;
  /** Networks of this host. */
  readonly taken: readonly (Extent & { readonly text: string })[];
  readonly #hops: readonly Hop[];

  constructor({ interfaces, routes }: RoutingState) {
    this.#links = interfaces.map(linkOf);
    const costs = new Map(interfaces.map(({ id, metric }) => [id, metric]));
    for (const { id, isLoopback } of this.#links) if (isLoopback) costs.delete(id);
    this.#defaults = defaultsOf(routes, costs);
    this.#lookup = new GatewayLookup(routes, costs);
    this.taken = takenBy(this.#links);
    this.#hops = gatewaysOf(routes);
  }

  resolve(desired: DesiredRoute, options: ResolveOptions = {}): ResolvedRoute {
    const network = parseNetwork(desired.destination);
    if (network?.bytes.length !== 4) return rejected('its destination is not an IPv4 network');
    const reason = unroutableReason(network) ?? this.#ownReason(network, desired);
    if (reason !== undefined) return rejected(reason);
    const { interface: name, gateway } = desired;
    const candidates = this.#links.filter(
      (link) => name === undefined || link.name === name || link.id === name,
    );
    if (name !== undefined && candidates.length === 0)
      return waiting(`no interface ${quoteText(name)} is up and has an address`);
    const [link] = candidates;
    if (name !== undefined && link?.isLoopback === true)
      return rejected(`its interface ${quoteText(name)} is the loopback`);
    if (desired.isOnLink === true && link !== undefined)
      return routed(desired, { gateway: '', interface: link.id });
    return gateway === undefined
      ? this.#throughDefault(desired, extentOf(network), candidates)
      : this.#throughGateway(desired, extentOf(network), candidates, options);
  }

  /** Refuses a destination that overlaps a network of the host or contains a next hop. */
  #ownReason(network: IpNetwork, { destination, gateway }: DesiredRoute): string | undefined {
    const extent = extentOf(network);
    const taken = this.taken.find((own) => meet(own, extent));
    if (taken !== undefined) return `the host itself is in ${taken.text}`;
    const isIn = (address: number): boolean => isWithin(address, extent);
    const own = addressOf(gateway ?? '');
    let found = own !== undefined && isIn(own) ? own : undefined;
    for (
      let at = firstAtLeast(this.#hops, extent.first, (hop) => hop.address);
      found === undefined;
      at += 1
    ) {
      const hop = this.#hops[at];
      if (hop === undefined || !isIn(hop.address)) break;
      if (hop.destination !== destination) found = hop.address;
    }
    return found === undefined ? undefined : `the gateway ${textOf(found)} is in it`;
  }

  #throughDefault(
    desired: DesiredRoute,
    extent: Extent,
    candidates: readonly Link[],
  ): ResolvedRoute {
    const best = this.#defaults.find((hop) => candidates.some(({ id }) => id === hop.interface));
    if (best === undefined) return waiting('there is no default route');
    const hop = addressOf(best.gateway);
    if (hop === undefined) return routed(desired, best);
    const near = this.#lookup.find(hop, (id) => id === best.interface);
    return near === undefined ? routed(desired, best, true) : along(desired, best, extent, near);
  }

  #throughGateway(
    desired: DesiredRoute,
    extent: Extent,
    candidates: readonly Link[],
    { isToPeer = false, existing = [] }: ResolveOptions,
  ): ResolvedRoute {
    const { gateway = '', interface: name } = desired;
    const hop = addressOf(gateway);
    const network = parseNetwork(gateway);
    if (hop === undefined || network === undefined)
      return rejected('its gateway is not an IPv4 address');
    const wrong = unroutableReason(network);
    if (wrong !== undefined) return rejected(`${gateway} cannot be its gateway: ${wrong}`);
    for (const { own } of this.#links) {
      const reason = own.map((net) => wrongHop(hop, net)).find((found) => found !== undefined);
      if (reason !== undefined) return rejected(`its gateway ${gateway} is ${reason}`);
    }
    const usable = new Set(
      candidates
        .filter((link) => name !== undefined || mayBeFound(link, isToPeer))
        .map(({ id }) => id),
    );
    const near = this.#lookup.find(
      hop,
      (id) => usable.has(id),
      (id) => existing.some((route) => route.gateway === gateway && route.interface === id),
    );
    // A default route leads to everybody, so it does not show that a peer is a neighbour. The plan would let the host forward there.
    const isShown = near !== undefined && !(isToPeer && near.destination === ANYWHERE);
    if (isShown) return along(desired, { gateway, interface: near.interface }, extent, near);
    // The host itself uses this gateway already, for example by a default route with `onlink`.
    const used = this.#defaults.find((one) => one.gateway === gateway && usable.has(one.interface));
    if (used !== undefined) return routed(desired, used, true);
    const [link] = candidates;
    return name === undefined || link === undefined
      ? waiting(`no interface reaches the gateway ${gateway}`)
      : routed(desired, { gateway, interface: link.id }, true);
  }
}

function takenBy(links: readonly Link[]): Surroundings['taken'] {
  return links.flatMap(({ own }) =>
    own.map(({ net }) => {
      // An adapter with an address in 169.254.0.0/16 occupies only that address, not its whole network, because cloud metadata
      // services have other addresses in this range.
      const taken = isIpv4LinkLocal(net) ? { ...net, prefix: 32 } : networkOf(net);
      return { ...extentOf(taken), text: formatNetwork(taken) };
    }),
  );
}

function linkOf({ id, name, addresses }: RouteInterface): Link {
  const nets = addresses.flatMap((text) => parseNetwork(text) ?? []);
  const own = nets
    .filter(({ bytes }) => bytes.length === 4)
    .map((net) => ({ address: numberOf(net.bytes), net, ...extentOf(networkOf(net)) }));
  return { id, name, own, isLoopback: own.some(({ net }) => net.bytes[0] === LOOPBACK) };
}

function defaultsOf(
  routes: readonly ListedRoute[],
  costs: ReadonlyMap<string, number>,
): readonly RouteHop[] {
  return routes
    .filter(({ destination }) => destination === ANYWHERE)
    .flatMap((route) => hopsOf(route).map((hop) => ({ hop, metric: route.metric })))
    .flatMap(({ hop, metric }) => {
      const cost = costs.get(hop.interface);
      return cost === undefined ? [] : [{ hop, cost: metric + cost }];
    })
    .sort((a, b) => Number(a.hop.gateway === '') - Number(b.hop.gateway === '') || a.cost - b.cost)
    .map(({ hop: { gateway, interface: through } }) => ({ gateway, interface: through }));
}

function gatewaysOf(routes: readonly ListedRoute[]): readonly Hop[] {
  const hops = new Map<number, Hop>();
  for (const route of routes) {
    const { destination } = route;
    for (const { gateway } of route.hops ?? [route]) {
      const address = addressOf(gateway);
      if (address === undefined) continue;
      const isAlone = (hops.get(address) ?? { destination }).destination === destination;
      hops.set(address, { address, destination: isAlone ? destination : undefined });
    }
  }
  return [...hops.values()].sort((a, b) => a.address - b.address);
}

/**
 * Whether a route may lead through an interface that it does not name. An interface without IPv4 address leads to no host: network
 * plugins attach containers to such interfaces, each with a route to the container's address.
 */
function mayBeFound({ id, own }: Link, isToPeer: boolean): boolean {
  return own.length > 0 && !(isToPeer && id === CONTAINER_NETWORK);
}

function routed(
  { destination, metric }: DesiredRoute,
  { gateway, interface: through }: RouteHop,
  assumesOnLink = false,
): ResolvedRoute {
  const route = { destination, gateway, interface: through, metric };
  return { kind: 'route', route, assumesOnLink };
}

/** Refuses a destination in the network that reaches its gateway, because the hosts of that network are reached directly. */
function along(
  desired: DesiredRoute,
  hop: RouteHop,
  extent: Extent,
  near: OnLinkRoute,
): ResolvedRoute {
  const isWhole = near.destination === ANYWHERE;
  return !isWhole && !isInside(near, LINK_LOCAL) && meet(near, extent)
    ? rejected(`it overlaps ${near.destination}, the network of its gateway`)
    : routed(desired, hop);
}

/** Refuses this host's own address, the network address, and the broadcast address. */
function wrongHop(hop: number, { address, net, first, last }: OwnAddress): string | undefined {
  if (hop === address) return 'an address of this host';
  if (net.prefix > 30) return undefined;
  if (hop === first) return 'the address of a network';
  return hop === last ? 'the broadcast address of a network' : undefined;
}

function rejected(detail: string): ResolvedRoute {
  return { kind: 'rejected', detail };
}

function waiting(detail: string): ResolvedRoute {
  return { kind: 'waiting', detail };
}
