import { parseNetwork, type ListedRoute, type RouteHop } from '@wins/base';
import { extentOf, type Extent } from './extent.js';

/** A route to addresses that are directly on the network of its interface. */
export interface OnLinkRoute extends Extent {
  readonly destination: string;
  readonly interface: string;
  /** Metric of the route and of its interface. */
  readonly cost: number;
}

/** Next hops of a route, those to nowhere excepted. */
export function hopsOf(route: ListedRoute): readonly RouteHop[] {
  return (route.hops ?? [route]).filter((hop) => hop.interface !== '');
}

/**
 * Finds the interface that reaches a gateway, as the system does when somebody adds a route: among the on-link routes to the gateway,
 * the longest prefix wins, then the lowest cost, then the first of the table. Routes with a gateway never count, so that a peer's
 * route cannot make another gateway reachable.
 *
 * Searches the table that one listing returned, instead of asking the system about each gateway. So all routes of a plan see the
 * same state, a dry run has the same result, and a thousand gateways need no further call. One search takes at most 33 steps.
 */
export class GatewayLookup {
  /** Longest prefix first. The routes to a network are sorted by cost, and by their order in the table. */
  readonly #byPrefix: readonly (readonly [number, ReadonlyMap<number, readonly OnLinkRoute[]>])[];

  /** @param costs - Metric of each interface that may be used, by its id. */
  constructor(routes: readonly ListedRoute[], costs: ReadonlyMap<string, number>) {
    const byPrefix = new Map<number, Map<number, OnLinkRoute[]>>();
    for (const route of routes) {
      if (route.isOnLink === false) continue;
      const direct = hopsOf(route).filter(({ gateway }) => gateway === '');
      const { destination, metric } = route;
      const network = direct.length === 0 ? undefined : parseNetwork(destination);
      if (network?.bytes.length !== 4) continue;
      const extent = extentOf(network);
      for (const { interface: through } of direct) {
        const cost = costs.get(through);
        if (cost === undefined) continue;
        const networks = byPrefix.get(network.prefix) ?? new Map<number, OnLinkRoute[]>();
        const there = networks.get(extent.first) ?? [];
        there.push({ ...extent, destination, interface: through, cost: metric + cost });
        networks.set(extent.first, there);
        byPrefix.set(network.prefix, networks);
      }
    }
    for (const networks of byPrefix.values())
      for (const there of networks.values()) there.sort((a, b) => a.cost - b.cost);
    this.#byPrefix = [...byPrefix].sort(([a], [b]) => b - a);
  }

  /**
   * @param isUsable - Decides about an interface by its id.
   * @param isPreferred - Decides between routes of equal prefix and cost, so that an existing route need not move.
   */
  find(
    gateway: number,
    isUsable: (id: string) => boolean,
    isPreferred: (id: string) => boolean = () => false,
  ): OnLinkRoute | undefined {
    for (const [prefix, networks] of this.#byPrefix) {
      const size = 2 ** (32 - prefix);
      const usable = networks
        .get(gateway - (gateway % size))
        ?.filter((route) => isUsable(route.interface));
      const [first] = usable ?? [];
      if (first === undefined) continue;
      const alike = usable?.find((one) => one.cost === first.cost && isPreferred(one.interface));
      return alike ?? first;
    }
    return undefined;
  }
}
