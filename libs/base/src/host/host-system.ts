/** Values of HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion; empty when unknown. */
export interface HostVersion {
  readonly currentMajorVersionNumber: string;
  readonly currentMinorVersionNumber: string;
  readonly currentBuildNumber: string;
  /** Update build revision: the last part of the build number. */
  readonly ubr: string;
  readonly releaseId: string;
  readonly buildLabEx: string;
  readonly currentBuild: string;
}

/** An adapter of the host with one of its addresses, of IPv4 if it has any. */
export interface NetworkAdapter {
  /** Decimal digits. */
  readonly interfaceIndex: string;
  /** Next hop of the adapter's default route; empty without one. */
  readonly gatewayAddress: string;
  /** `192.0.2.0/24`. */
  readonly subnetCidr: string;
  /** Name of the host, not of the adapter. */
  readonly hostName: string;
  /** `192.0.2.2/32`. */
  readonly addressCidr: string;
}

/** A subnet of an {@link HnsNetwork}. */
export interface HnsSubnet {
  /** Such as `10.42.1.0/24`. */
  readonly addressCidr: string;
  /** Empty when the subnet has no route out. */
  readonly gatewayAddress: string;
}

/** A network of the Host Networking Service. */
export interface HnsNetwork {
  /** GUID without braces. */
  readonly id: string;
  /** Such as `Overlay` or `L2Bridge`. The first version of HNS uses lower case and other spellings. */
  readonly type: string;
  /** May be empty. */
  readonly managementIp: string;
  readonly subnets: readonly HnsSubnet[];
}

/** A row of the host's routing table, of IPv4 or IPv6. */
export interface RouteEntry {
  /** `0.0.0.0/0` and `::/0` are default routes. */
  readonly destinationCidr: string;
  /** The next hop; empty when the interface reaches the destination directly. */
  readonly gateway: string;
  readonly interfaceIndex: number;
  /** The lowest metric wins. */
  readonly metric: number;
}

/** Selects an adapter by name or by one of its addresses, or an HNS network by name or by an address in one of its subnets. */
export type NetworkSelector = { readonly name: string } | { readonly address: string };

/**
 * Operations that query the host or change its routes. The `code` of an error is `notFound`, `invalidArgument`, `unavailable`,
 * `accessDenied` or `notVerified`; any other code counts as `unknown`.
 */
export interface HostSystem {
  version(): Promise<HostVersion>;
  /** Default: the adapter with the default route. Rejects with `notFound` when there is none. */
  adapter(which?: NetworkSelector): Promise<NetworkAdapter>;
  /** Rejects with `notFound`, or with `unavailable` on a host without HNS. */
  hnsNetwork(which: NetworkSelector): Promise<HnsNetwork>;
  /** IPv4 and IPv6, without the system's own multicast and local entries. */
  routes(): Promise<readonly RouteEntry[]>;
  /**
   * Adds a route to each host (`8.8.8.8`) or network (`10.1.0.0/16`) through the default gateway of its address family. The
   * caller ensures that `addresses` are canonical, routable, and at most 256. Existing routes stay. Rejects with `notVerified`
   * if the table, read again, lacks one of the routes.
   */
  addRoutes(addresses: readonly string[]): Promise<void>;
  /** Removes the routes that {@link addRoutes} would add. A missing route is not an error. */
  removeRoutes(addresses: readonly string[]): Promise<void>;
}
