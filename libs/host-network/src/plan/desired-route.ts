import { CONTAINER_NETWORK } from '@wins/base';
import type { DesiredPeer } from './judge-peers.js';

/** A route that should exist on the host. */
export interface DesiredRoute {
  /** Canonical IPv4 network: `10.42.1.0/24`. */
  readonly destination: string;
  /** Next hop, reached directly by the interface. Default: the next hop of the default route. */
  readonly gateway?: string | undefined;
  /** Name. Used even if no route leads to the gateway there. Default: the interface that reaches the gateway. */
  readonly interface?: string | undefined;
  /** Whether the destination is directly on the network of `interface`. Default: false. */
  readonly isOnLink?: boolean | undefined;
  readonly metric: number;
}

/** The network of a host's own containers. */
export interface DesiredSubnet {
  /** Canonical IPv4 network: `10.42.1.0/24`. */
  readonly subnet: string;
  /** The host's address in the subnet, and the containers' gateway. */
  readonly gateway: string;
}

/** Desired network of the host, from the config and the peer sources. */
export interface DesiredNetwork {
  readonly routes: readonly DesiredRoute[];
  /** Other hosts. Each host is the next hop to its own containers. A plan may refuse some of the hosts. */
  readonly peers?: readonly DesiredPeer[] | undefined;
  /** Network of the host's containers. If absent, wins removes the one that it made. */
  readonly own?: DesiredSubnet | undefined;
  /**
   * Networks of the cluster, at most 8. Each peer's subnet must be inside one of them. The containers of this host may reach
   * all of them. Default: RFC 1918.
   */
  readonly cluster?: readonly string[] | undefined;
  /** Addresses that no peer may take over: resolvers, the Rancher server, the API server. */
  readonly reserved?: readonly string[] | undefined;
  /**
   * True until each peer source has delivered once. Until then, wins keeps its existing routes, desired or not, because such a
   * route may lead to a peer that a source has not reported yet. Changed entries of `routes` apply at once.
   */
  readonly holds?: boolean | undefined;
}

/** Default of `New-NetRoute` on Windows. A route of another program with a lower metric takes precedence. */
export const DEFAULT_METRIC = 256;

/**
 * Addresses of cloud services, such as metadata. The clouds' own agents add routes to them when a machine starts.
 */
export const CLOUD_ADDRESSES = {
  /** Metadata (two addresses), DNS, time, licence activation: the routes of EC2Launch. */
  aws: [
    '169.254.169.254',
    '169.254.169.253',
    '169.254.169.123',
    '169.254.169.249',
    '169.254.169.250',
    '169.254.169.251',
  ],
  /** Metadata, and the platform (WireServer). */
  azure: ['169.254.169.254', '168.63.129.16'],
  gce: ['169.254.169.254'],
  /** Rancher's metadata and DNS. Containers of this host serve them, so they are not behind the gateway. */
  rancher: ['169.254.169.250', '169.254.169.251'],
} as const;

/** A cloud whose metadata and service addresses {@link cloudRoutes} knows. */
export type Cloud = keyof typeof CLOUD_ADDRESSES;

/** Metric of Rancher's routes: lower than that of other clouds' routes to the same addresses, so that Rancher's routes win. */
const CONTAINER_METRIC = 1;

/**
 * Returns one route to each address of these clouds. Addresses of Rancher are on the container network, all others behind
 * the default gateway. An address of both Rancher and another cloud gets Rancher's route.
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
