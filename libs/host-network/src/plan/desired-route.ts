import { CONTAINER_NETWORK } from '@wins/base';
import type { DesiredPeer } from './judge-peers.js';

/** A route that should exist on the host. */
export interface DesiredRoute {
  /** An IPv4 network in canonical form, with its prefix: `10.42.1.0/24`. */
  readonly destination: string;
  /** The next hop, in a network of the interface. Absent: the gateway of the default route. */
  readonly gateway?: string;
  /** Name of the interface. Absent: the interface that reaches the gateway. */
  readonly interface?: string;
  /** Whether the destination is directly on the network of `interface`, without a next hop. Default: false. */
  readonly isOnLink?: boolean;
  readonly metric: number;
}

/** The network of a host's own containers. */
export interface DesiredSubnet {
  /** IPv4 network in canonical form: `10.42.1.0/24`. */
  readonly subnet: string;
  /** The host's address in the subnet, which is the containers' gateway. */
  readonly gateway: string;
}

/** The desired network of the host, combined from the config and the peer sources. */
export interface DesiredNetwork {
  readonly routes: readonly DesiredRoute[];
  /** Other hosts; the route to a host's containers leads through that host. Every plan judges each host. */
  readonly peers?: readonly DesiredPeer[];
  /** The network of the host's own containers. Absent: none; an earlier network made by wins is removed. */
  readonly own?: DesiredSubnet | undefined;
  /**
   * Networks that must contain the peers' subnets, and that this host's containers may reach; at most 8. Default: the private networks of RFC 1918.
   */
  readonly cluster?: readonly string[];
  /** Addresses that no peer may take over: resolvers, the Rancher server, the API server. */
  readonly reserved?: readonly string[];
  /**
   * True while a peer source has delivered nothing since the start. Meanwhile routes made by wins stay even when they are not desired;
   * changes in `routes` still apply. Default: false.
   */
  readonly holds?: boolean;
}

/** Default metric of `New-NetRoute` on Windows. Routes of other programs with a lower metric win. */
export const DEFAULT_METRIC = 256;

/**
 * Cloud addresses that machines reach through their gateway: metadata, and others outside every network of the machine. The clouds' own
 * agents add the same routes when a machine starts.
 */
export const CLOUD_ADDRESSES = {
  /** Metadata, DNS, time, licence activation and the second metadata address, with the same routes as EC2Launch. */
  aws: [
    ...['169.254.169.254', '169.254.169.253', '169.254.169.123'],
    ...['169.254.169.249', '169.254.169.250', '169.254.169.251'],
  ],
  /** Metadata, and the platform (WireServer). */
  azure: ['169.254.169.254', '168.63.129.16'],
  gce: ['169.254.169.254'],
  /** Rancher's metadata and DNS, served by containers of this host: on its own network, not behind its gateway. */
  rancher: ['169.254.169.250', '169.254.169.251'],
} as const;

export type Cloud = keyof typeof CLOUD_ADDRESSES;

/** Lower than the metric of cloud routes to the same addresses, so that this route wins while those routes exist. */
const CONTAINER_METRIC = 1;

/**
 * Returns routes to the addresses of these clouds, without repeats: through the default gateway, for Rancher directly on the container
 * network. Routes of Rancher win over those of other clouds.
 */
export function cloudRoutes(clouds: readonly Cloud[]): readonly DesiredRoute[] {
  const addresses = new Set<string>(clouds.flatMap((cloud) => CLOUD_ADDRESSES[cloud]));
  const inContainers: readonly string[] = clouds.includes('rancher') ? CLOUD_ADDRESSES.rancher : [];
  return [...addresses].map((address) => ({
    destination: `${address}/32`,
    ...(inContainers.includes(address)
      ? { interface: CONTAINER_NETWORK, isOnLink: true, metric: CONTAINER_METRIC }
      : { metric: DEFAULT_METRIC }),
  }));
}
