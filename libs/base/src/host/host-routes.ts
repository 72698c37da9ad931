/** A static IPv4 route of the host's main routing table. */
export interface StaticRoute {
  /** In canonical form, always with the prefix: `169.254.169.254/32`. */
  readonly destination: string;
  /** The next hop; empty where the interface reaches the destination directly. */
  readonly gateway: string;
  /** `id` of the {@link RouteInterface}. */
  readonly interface: string;
  /** Its own metric, without that of the interface. The lower one wins. */
  readonly metric: number;
}

/** Whether two routes are one. Only a route that still equals its record is removed. */
export function isSameRoute(one: StaticRoute, other: StaticRoute): boolean {
  return (
    one.destination === other.destination &&
    one.gateway === other.gateway &&
    one.interface === other.interface &&
    one.metric === other.metric
  );
}

/** A route as the system lists it. */
export interface ListedRoute extends StaticRoute {
  /** Whether it has the mark of wins; undefined where routes have no marks. */
  readonly isMarked?: boolean;
}

/** An interface that routes can lead through. */
export interface RouteInterface {
  /** Stays the same when the interface is renamed, where the system has such a name. */
  readonly id: string;
  /** For people, and in the config. */
  readonly name: string;
  /** Cost of a route through it on top of the route's own metric. */
  readonly metric: number;
  /** Its IPv4 addresses, each with the length of its network: `192.0.2.2/24`. */
  readonly addresses: readonly string[];
}

/** The name of the interface by which a host is in the network of its own containers, and which they are attached to. */
export const CONTAINER_NETWORK = 'wins-subnet';

/**
 * A thing that the network of a host's own containers is made of, by its kind:
 *
 * - `bridge`: the interface, by its name. The value is empty, or `SUBNET GATEWAY` where {@link RoutingState.hasSubnetOnBridge} says so.
 * - `address`: of that interface, with the length of its network. The value is the name of the interface.
 * - `filter`: what containers may send (`NAME ingress`) and get (`NAME egress`). The value has their own network first, then those
 *   that they may exchange packets with, which the metadata addresses of Rancher are always among. Nothing else passes.
 * - `rule`: `NAME allow` forwards from an interface to the network that is the value; `NAME deny` nothing else.
 * - `forwarding`: whether what comes in by an interface is forwarded, `1` or `0`. The system always has this one.
 */
export interface NetworkItem {
  readonly kind: 'bridge' | 'address' | 'filter' | 'rule' | 'forwarding';
  readonly key: string;
  readonly value: string;
}

/** An item as the system has it. */
export interface ListedItem extends NetworkItem {
  /** Whether it has the mark of wins; undefined where such items have no marks. */
  readonly isMarked?: boolean;
}

export interface ItemChange {
  readonly op: 'add' | 'remove';
  readonly item: NetworkItem;
  /** The value before, of a thing that the system always has. A removal brings it back. */
  readonly prior?: string;
}

/** Interfaces and routes of the system at one moment. */
export interface RoutingState {
  /** Those that are up and have an IPv4 address. */
  readonly interfaces: readonly RouteInterface[];
  /** All IPv4 routes, also those of other programs; one that leads nowhere, or to several next hops, has no interface. */
  readonly routes: readonly ListedRoute[];
  /** Undefined where nobody asked for them, and on a system that can have none. */
  readonly items?: readonly ListedItem[];
  /** Whether the bridge has the subnet and its gateway as its value, so that another subnet needs another bridge. */
  readonly hasSubnetOnBridge?: boolean;
}

export interface RouteChange {
  readonly op: 'add' | 'remove';
  readonly route: StaticRoute;
}

export type NetworkChange = RouteChange | ItemChange;

/**
 * How a change ended. `exists`: something else was there first, so nothing was added. What was to be removed and is not there
 * is `done`.
 */
export type RouteOutcome =
  | { readonly kind: 'done' | 'exists' }
  | { readonly kind: 'failed'; readonly isDenied: boolean; readonly message: string };

/** The static routes of this host, and the network of its own containers. Nothing that it makes outlives a restart of the system. */
export interface HostRoutes {
  /** Names this boot of the system, and its network. */
  bootMark(): string;
  /** Whether {@link bootMark} gave the mark since the system was started; when in doubt, not. */
  isThisBoot(mark: string): boolean;
  /** @param withItems - Whether items are wanted too. */
  list(withItems: boolean): Promise<RoutingState>;
  /**
   * Makes changes, each whatever becomes of the others: those of items in this order, and those of routes. It never replaces
   * anything but a setting, and removes a thing only when all of it is as given.
   *
   * @returns An outcome for each change, in the same order.
   */
  change(changes: readonly NetworkChange[]): Promise<readonly RouteOutcome[]>;
  /**
   * Calls back after each change of routes, and of interfaces where that changes no route, until the signal aborts; then it
   * resolves.
   *
   * @throws when changes cannot be followed any more.
   */
  watch(onChange: () => void, signal: AbortSignal): Promise<void>;
}
