/** A static IPv4 route of the host's main routing table. */
export interface StaticRoute {
  /** In canonical form, always with the prefix: `169.254.169.254/32`. */
  readonly destination: string;
  /** The next hop; empty when the interface reaches the destination directly. */
  readonly gateway: string;
  /** `id` of the {@link RouteInterface}. */
  readonly interface: string;
  /** Metric of the route, without that of the interface. The lowest wins. */
  readonly metric: number;
}

/** Whether two routes are identical. A route is removed only while it equals its record. */
export function isSameRoute(one: StaticRoute, other: StaticRoute): boolean {
  return (
    one.destination === other.destination &&
    one.gateway === other.gateway &&
    one.interface === other.interface &&
    one.metric === other.metric
  );
}

export interface ListedRoute extends StaticRoute {
  /** Whether the route has the mark of wins; undefined on systems without such marks. */
  readonly isMarked?: boolean;
}

/** An interface that routes can lead through. */
export interface RouteInterface {
  /** Identifier. Where the system permits, it survives a rename of the interface. */
  readonly id: string;
  /** Name for people and for the config. */
  readonly name: string;
  /** Cost that the interface adds to the metric of each route through it. */
  readonly metric: number;
  /** IPv4 addresses of the interface, with prefix length: `192.0.2.2/24`. */
  readonly addresses: readonly string[];
}

/** Name of the interface that connects the host to its own container network. */
export const CONTAINER_NETWORK = 'wins-subnet';

/**
 * An item of the host's own container network, by its kind:
 *
 * - `bridge`: the interface, by its name. The value is empty, or `SUBNET GATEWAY` if {@link RoutingState.hasSubnetOnBridge} is true.
 * - `address`: an address of that interface, with its prefix length. The value is the name of the interface.
 * - `filter`: packets that containers may send (`NAME ingress`) and receive (`NAME egress`). The value is their own network, then the
 *   networks with which they may exchange packets. Rancher's metadata addresses are always included. All other packets are dropped.
 * - `rule`: `NAME allow` permits forwarding from an interface to the network in the value; `NAME deny` refuses all other forwarding.
 * - `forwarding`: whether packets from an interface are forwarded, `1` or `0`. This item always exists.
 */
export interface NetworkItem {
  readonly kind: 'bridge' | 'address' | 'filter' | 'rule' | 'forwarding';
  readonly key: string;
  readonly value: string;
}

export interface ListedItem extends NetworkItem {
  /** Whether the item has the mark of wins; undefined if such items have no marks. */
  readonly isMarked?: boolean;
}

export interface ItemChange {
  readonly op: 'add' | 'remove';
  readonly item: NetworkItem;
  /** Previous value of an item that always exists; removing the item restores it. */
  readonly prior?: string;
}

/** Interfaces and routes of the system at one moment. */
export interface RoutingState {
  /** Interfaces that are up and have an IPv4 address. */
  readonly interfaces: readonly RouteInterface[];
  /** All IPv4 routes, including those of other programs. A route that leads nowhere, or to several next hops, has no interface. */
  readonly routes: readonly ListedRoute[];
  /** Undefined when the caller did not request items, and on a system without items. */
  readonly items?: readonly ListedItem[];
  /** Why requested items could not be listed. The items are then unknown, so they and their record must stay unchanged. */
  readonly itemsError?: unknown;
  /** Whether the value of the `bridge` item contains the subnet and its gateway, so that another subnet needs another bridge. */
  readonly hasSubnetOnBridge?: boolean;
}

export interface RouteChange {
  readonly op: 'add' | 'remove';
  readonly route: StaticRoute;
}

export type NetworkChange = RouteChange | ItemChange;

/** `exists`: another route or item is there, so nothing was added. Removing something that does not exist is `done`. */
export type RouteOutcome =
  | { readonly kind: 'done' | 'exists' }
  | { readonly kind: 'failed'; readonly isDenied: boolean; readonly message: string };

/** The static routes of this host, and the network of its own containers. Nothing created here survives a restart of the system. */
export interface HostRoutes {
  /** Returns a mark that identifies this boot; on Linux it also identifies the network namespace. */
  bootMark(): string;
  /** Whether {@link bootMark} returned this mark since the last boot; false when in doubt. */
  isThisBoot(mark: string): boolean;
  /** @param withItems - Whether to list items too. */
  list(withItems: boolean): Promise<RoutingState>;
  /**
   * Makes each change even if others fail, items in the given order, and returns an outcome for each. Overwrites only
   * items that always exist, and removes a route or item only when all its fields match.
   */
  change(changes: readonly NetworkChange[]): Promise<readonly RouteOutcome[]>;
  /**
   * Calls back after each change of routes, and after some changes of interfaces. Resolves when the signal aborts.
   *
   * @throws when changes can no longer be followed.
   */
  watch(onChange: () => void, signal: AbortSignal): Promise<void>;
}
