/** The version of the host's system, as HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion words it; empty when unknown. */
export interface HostVersion {
  readonly currentMajorVersionNumber: string;
  readonly currentMinorVersionNumber: string;
  readonly currentBuildNumber: string;
  readonly ubr: string;
  readonly releaseId: string;
  readonly buildLabEx: string;
  readonly currentBuild: string;
}

/** One network adapter of the host. */
export interface NetworkAdapter {
  /** The number by which the system knows it, in decimal digits. */
  readonly interfaceIndex: string;
  /** Where its default route leads; empty when it has none. */
  readonly gatewayAddress: string;
  /** The network that it is in: `192.0.2.0/24`. */
  readonly subnetCidr: string;
  /** The name of the host, not of the adapter. */
  readonly hostName: string;
  /** Its own address as a network of one: `192.0.2.2/32`. */
  readonly addressCidr: string;
}

/** One subnet of an HNS network. */
export interface HnsSubnet {
  readonly addressCidr: string;
  /** Empty when the subnet has no route out. */
  readonly gatewayAddress: string;
}

/** One network of the Host Networking Service. */
export interface HnsNetwork {
  /** A GUID without braces. */
  readonly id: string;
  /** Such as `Overlay` or `L2Bridge`; in small letters and otherwise spelt by the first version of HNS. */
  readonly type: string;
  /** Empty when the network has none. */
  readonly managementIp: string;
  readonly subnets: readonly HnsSubnet[];
}

/** One row of the routing table. */
export interface RouteEntry {
  /** `192.0.2.0/24`; `0.0.0.0/0` and `::/0` are default routes. */
  readonly destinationCidr: string;
  /** The next hop; empty for a network that the interface is in. */
  readonly gateway: string;
  readonly interfaceIndex: number;
  /** The lower one wins. */
  readonly metric: number;
}

/** Selects an adapter or an HNS network, by its name or by an address of it. */
export type NetworkSelector = { readonly name: string } | { readonly address: string };

/**
 * Questions of the daemon to the system that it runs on. Each method rejects with an error whose `code` is a
 * `HostSystemErrorCode` of the daemon; whatever else is thrown counts as `unknown`.
 */
export interface HostSystem {
  /** Says which release of the system this is. */
  version(): Promise<HostVersion>;
  /** Describes one adapter. Default: the one with the default route. `notFound` when there is none. */
  adapter(which?: NetworkSelector): Promise<NetworkAdapter>;
  /** Describes one HNS network: `notFound`, or `unavailable` where there is no HNS. */
  hnsNetwork(which: NetworkSelector): Promise<HnsNetwork>;
  /** The routing table, IPv4 and IPv6, without the system's own multicast and local entries. */
  routes(): Promise<readonly RouteEntry[]>;
  /**
   * Leads each host (`8.8.8.8`, `2001:db8::1`) or network (`10.1.0.0/16`) through the gateway of the default adapter of its
   * family. The caller has checked the texts: they are canonical, at most 256, and routable. What is there already is left alone.
   * Resolves when the table, read again, holds all of them; else rejects with `notVerified`.
   */
  addRoutes(addresses: readonly string[]): Promise<void>;
  /** Takes away what {@link addRoutes} makes; what is not there is no error. */
  removeRoutes(addresses: readonly string[]): Promise<void>;
}
