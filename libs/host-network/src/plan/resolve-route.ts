import {
  formatNetwork,
  isIpv4LinkLocal,
  networkOf,
  parseNetwork,
  quoteText,
  unroutableReason,
  type IpNetwork,
  type ListedRoute,
  type RouteInterface,
  type RoutingState,
  type StaticRoute,
} from '@wins/base';
import type { DesiredRoute } from './desired-route.js';
import {
  addressOf,
  extentOf,
  firstAtLeast,
  isWithin,
  meet,
  numberOf,
  textOf,
  type Extent,
} from './extent.js';

/**
 * A desired route with its next hop and interface. `waiting`: the host lacks something that may return, such as its default
 * route. `rejected`: the route would misdirect traffic, or its values are invalid.
 */
export type ResolvedRoute =
  | { readonly kind: 'route'; readonly route: StaticRoute }
  | { readonly kind: 'waiting' | 'rejected'; readonly detail: string };

const ANYWHERE = '0.0.0.0/0';

/** An address of this host, with the extent of its network. */
interface OwnAddress extends Extent {
  readonly address: number;
  readonly net: IpNetwork;
}

interface Link extends Pick<RouteInterface, 'id' | 'name'> {
  readonly own: readonly OwnAddress[];
}

/** A next hop. `destination` is set if all routes through this hop have the same destination. */
interface Hop {
  readonly address: number;
  readonly destination: string | undefined;
}

/** Facts of a {@link RoutingState}, computed once for all routes. */
export class Surroundings {
  readonly #links: readonly Link[];
  /** Default routes through a gateway, lowest cost first. */
  readonly #defaults: readonly ListedRoute[];
  /** Networks of this host. */
  readonly taken: readonly (Extent & { readonly text: string })[];
  readonly #hops: readonly Hop[];

  constructor({ interfaces, routes }: RoutingState) {
    this.#links = interfaces.map(linkOf);
    const costs = new Map(interfaces.map(({ id, metric }) => [id, metric]));
    const cost = (route: ListedRoute): number => route.metric + (costs.get(route.interface) ?? 0);
    this.#defaults = routes
      .filter(({ destination, gateway, interface: through }) => {
        return destination === ANYWHERE && gateway !== '' && costs.has(through);
      })
      .sort((a, b) => cost(a) - cost(b));
    this.taken = takenBy(this.#links);
    this.#hops = hopsOf(routes);
  }

  resolve(desired: DesiredRoute): ResolvedRoute {
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
    if (desired.isOnLink === true && link !== undefined) {
      const { destination, metric } = desired;
      return { kind: 'route', route: { destination, gateway: '', interface: link.id, metric } };
    }
    return gateway === undefined
      ? this.#throughDefault(desired, candidates)
      : this.#throughGateway(desired, gateway, candidates);
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
    { destination, metric }: DesiredRoute,
    candidates: readonly Link[],
  ): ResolvedRoute {
    const best = this.#defaults.find((route) =>
      candidates.some(({ id }) => id === route.interface),
    );
    if (best === undefined) return waiting('there is no default route through a gateway');
    const { gateway, interface: through } = best;
    return { kind: 'route', route: { destination, gateway, interface: through, metric } };
  }

  #throughGateway(
    { destination, metric }: DesiredRoute,
    gateway: string,
    candidates: readonly Link[],
  ): ResolvedRoute {
    const hop = addressOf(gateway);
    if (hop === undefined) return rejected('its gateway is not an IPv4 address');
    const reaching = candidates.filter(
      ({ id, own }) =>
        own.some((net) => net.first < net.last && isWithin(hop, net)) ||
        // In some clouds a machine has a /32 address, but still a gateway.
        this.#defaults.some((route) => route.gateway === gateway && route.interface === id),
    );
    const [found, another] = reaching;
    if (found === undefined) return waiting(`no interface reaches the gateway ${gateway}`);
    if (another !== undefined) {
      const names = reaching.map(({ name }) => quoteText(name)).join(', ');
      return rejected(`${names} all reach its gateway: set its interface to one of them`);
    }
    const wrong = found.own.map((own) => wrongHop(hop, own)).find((reason) => reason !== undefined);
    if (wrong !== undefined) return rejected(`its gateway ${gateway} is ${wrong}`);
    return { kind: 'route', route: { destination, gateway, interface: found.id, metric } };
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
  return { id, name, own };
}

function hopsOf(routes: readonly ListedRoute[]): readonly Hop[] {
  const hops = new Map<number, Hop>();
  for (const { gateway, destination } of routes) {
    const address = addressOf(gateway);
    if (address === undefined) continue;
    const isAlone = (hops.get(address) ?? { destination }).destination === destination;
    hops.set(address, { address, destination: isAlone ? destination : undefined });
  }
  return [...hops.values()].sort((a, b) => a.address - b.address);
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
