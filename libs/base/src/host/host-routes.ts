/** A static IPv4 route of the main routing table. */
export interface StaticRoute {
  /** Canonical, always with the prefix: `169.254.169.254/32`. */
  readonly destination: string;
  /** Next hop; empty when the interface reaches the destination directly. */
  readonly gateway: string;
  /** `id` of the {@link RouteInterface}. */
  readonly interface: string;
  /** Excludes the metric of the interface, which the system adds. The route with the lowest sum wins. */
  readonly metric: number;
}

/** Compares all fields, because the daemon removes a recorded route only while it is unchanged. */
export function isSameRoute(one: StaticRoute, other: StaticRoute): boolean {
  return (
    one.destination === other.destination &&
    one.gateway === other.gateway &&
    one.interface === other.interface &&
    one.metric === other.metric
  );
}

/** One next hop of a route. */
export type RouteHop = Pick<StaticRoute, 'gateway' | 'interface'>;

/** A route that exists on the host now, made by wins or by another program. */
export interface ListedRoute extends StaticRoute {
  /** Undefined on systems where the daemon does not mark its routes. */
  readonly isMarked?: boolean | undefined;
  /** All next hops of a route that has several. Its `gateway` and `interface` are then empty. */
  readonly hops?: readonly RouteHop[] | undefined;
  /**
   * Whether the system accepts addresses in the destination as gateways of other routes; on Linux the scope decides. Default: true
   * for a hop without gateway. A hop with a gateway never counts.
   */
  readonly isOnLink?: boolean | undefined;
}

/** An interface that routes can lead through. */
export interface RouteInterface {
  /** Survives a rename of the interface, except on systems where the id is the name. */
  readonly id: string;
  readonly name: string;
  /** Added to the metric of each route through the interface. */
  readonly metric: number;
  /** IPv4 addresses with prefix length: `192.0.2.2/24`. May be empty. */
  readonly addresses: readonly string[];
}

/** Name of the interface that connects the host to its own container network. */
export const CONTAINER_NETWORK = 'wins-subnet';

/**
 * An item of the host's own container network, by its kind:
 *
 * - `bridge`: the interface. The key is its name. The value is empty, or `SUBNET GATEWAY` if
 *   {@link RoutingState.hasSubnetOnBridge} is true.
 * - `address`: an address of the bridge, with its prefix length. The value is the name of the bridge.
 * - `filter`: drops forbidden packets that containers send (key `NAME ingress`) or receive (key `NAME egress`). The value lists
 *   the containers' own network, then the networks that they may reach. Rancher's metadata addresses are always allowed.
 * - `rule`: `NAME allow` permits forwarding from interface NAME to the network in the value. `NAME deny` refuses all other
 *   forwarding.
 * - `forwarding`: whether the host forwards packets from an interface, `1` or `0`. This item always exists.
 */
export interface NetworkItem {
  readonly kind: 'bridge' | 'address' | 'filter' | 'rule' | 'forwarding';
  readonly key: string;
  readonly value: string;
}

/** An item that exists on the host now. */
export interface ListedItem extends NetworkItem {
  /** True if wins marked the item. Undefined if items of this kind have no mark. */
  readonly isMarked?: boolean | undefined;
}

/** Adds or removes one item of the host's own container network. */
export interface ItemChange {
  readonly op: 'add' | 'remove';
  readonly item: NetworkItem;
  /** Value of the item before wins set it. Present only for `forwarding` items, which always exist. Removing such an item restores this value. */
  readonly prior?: string | undefined;
}

/** The host's network at one moment. */
export interface RoutingState {
  readonly interfaces: readonly RouteInterface[];
  /** All IPv4 routes of the main table, in the order of the table, also those of other programs. A route to nowhere, to several next hops, or to a next hop of IPv6 has no interface. */
  readonly routes: readonly ListedRoute[];
  /** Undefined when not requested, or when the system has no such items. */
  readonly items?: readonly ListedItem[] | undefined;
  /** Error while listing the items. The items are then unknown, so neither they nor the record of them may change. */
  readonly itemsError?: unknown;
  /** Whether the value of the `bridge` item contains subnet and gateway. If so, a change of the subnet requires a new bridge. */
  readonly hasSubnetOnBridge?: boolean | undefined;
}

/** Adds or removes one route. */
export interface RouteChange {
  readonly op: 'add' | 'remove';
  readonly route: StaticRoute;
  /** Whether the gateway counts as on the link of the interface although no route of the host leads there: `onlink` of Linux. */
  readonly assumesOnLink?: boolean | undefined;
}

/** One change for {@link HostRoutes.change}. */
export type NetworkChange = RouteChange | ItemChange;

/** `exists`: another route or item is there, so nothing was added. Removing a missing one is `done`. */
export type RouteOutcome =
  | { readonly kind: 'done' | 'exists' }
  | { readonly kind: 'failed'; readonly isDenied: boolean; readonly message: string };

/** Routes of this host, and the network of its containers. Nothing survives a reboot. */
export interface HostRoutes {
  /** Identifies this boot; on Linux also the network namespace. */
  bootMark(): string;
  /** Whether a mark identifies this boot; false when in doubt. */
  isThisBoot(mark: string): boolean;
  /** Reads the items only if `withItems` is true. */
  list(withItems: boolean): Promise<RoutingState>;
  /**
   * Attempts every change, even after one has failed. Changes items in the given order. Overwrites
   * other programs' values only for `forwarding` items. Removes a route or item only if all its fields match.
   */
  change(changes: readonly NetworkChange[]): Promise<readonly RouteOutcome[]>;
  /**
   * Calls back after changes of routes and some changes of interfaces. Resolves when the signal aborts.
   *
   * @throws when it can no longer watch.
   */
  watch(onChange: () => unknown, options: { readonly signal: AbortSignal }): Promise<void>;
}
