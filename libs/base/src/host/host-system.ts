/** Version of the host's system, in the form of HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion; empty when unknown. */
export interface HostVersion {
  readonly currentMajorVersionNumber: string;
  readonly currentMinorVersionNumber: string;
  readonly currentBuildNumber: string;
  readonly ubr: string;
  readonly releaseId: string;
  readonly buildLabEx: string;
  readonly currentBuild: string;
}

export interface NetworkAdapter {
  /** Index of the interface in the system, in decimal digits. */
  readonly interfaceIndex: string;
  /** Next hop of its default route; empty when it has none. */
  readonly gatewayAddress: string;
  /** The subnet of the adapter: `192.0.2.0/24`. */
  readonly subnetCidr: string;
  /** The name of the host, not of the adapter. */
  readonly hostName: string;
  /** The address of the adapter, as a network of one: `192.0.2.2/32`. */
  readonly addressCidr: string;
}

export interface HnsSubnet {
  readonly addressCidr: string;
  /** Empty when the subnet has no route out. */
  readonly gatewayAddress: string;
}

/** One network of the Host Networking Service. */
export interface HnsNetwork {
  /** GUID without braces. */
  readonly id: string;
  /** Network type, such as `Overlay` or `L2Bridge`. The first version of HNS uses lower case and other spellings. */
  readonly type: string;
  /** Empty when the network has none. */
  readonly managementIp: string;
  readonly subnets: readonly HnsSubnet[];
}

export interface RouteEntry {
  /** `192.0.2.0/24`; `0.0.0.0/0` and `::/0` are default routes. */
  readonly destinationCidr: string;
  /** The next hop; empty when the interface reaches the destination directly. */
  readonly gateway: string;
  readonly interfaceIndex: number;
  /** The lowest metric wins. */
  readonly metric: number;
}

/** Selects an adapter or an HNS network by its name or one of its addresses. */
export type NetworkSelector = { readonly name: string } | { readonly address: string };

/**
 * Queries and changes of the host system. The `code` of an error is `notFound`, `invalidArgument`, `unavailable`, `accessDenied` or
 * `notVerified`; any other code counts as `unknown`.
 */
export interface HostSystem {
  version(): Promise<HostVersion>;
  /** Describes one adapter. Default: the one with the default route. Rejects with `notFound` when there is none. */
  adapter(which?: NetworkSelector): Promise<NetworkAdapter>;
  /** Describes one HNS network. Rejects with `notFound`, or with `unavailable` on a host without HNS. */
  hnsNetwork(which: NetworkSelector): Promise<HnsNetwork>;
  /** Returns the routing table, IPv4 and IPv6, without the system's own multicast and local entries. */
  routes(): Promise<readonly RouteEntry[]>;
  /**
   * Adds a route to each host (`8.8.8.8`, `2001:db8::1`) or network (`10.1.0.0/16`) through the gateway of the default adapter of its
   * address family. The caller has checked that the texts are canonical, at most 256, and routable. Existing routes stay unchanged.
   * Resolves when the table, read again, contains all of them; else rejects with `notVerified`.
   */
  addRoutes(addresses: readonly string[]): Promise<void>;
  /** Removes the routes that {@link addRoutes} adds for these addresses. A missing route is not an error. */
  removeRoutes(addresses: readonly string[]): Promise<void>;
}
