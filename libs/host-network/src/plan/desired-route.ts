import { CONTAINER_NETWORK } from '@wins/base';
import type { DesiredPeer } from './judge-peers.js';

/** A route that the host is to have. */
export interface DesiredRoute {
  /** An IPv4 network in canonical form, with its prefix: `10.42.1.0/24`. */
  readonly destination: string;
  /** The next hop, on a network of the interface. Absent: where the default route leads. */
  readonly gateway?: string;
  /** The name of the interface. Absent: the one that reaches the gateway. */
  readonly interface?: string;
  /** Whether the destination is on the network of `interface`, without a next hop. Default: false. */
  readonly isOnLink?: boolean;
  readonly metric: number;
}

/** The network of a host's own containers. */
export interface DesiredSubnet {
  /** In canonical form: `10.42.1.0/24`. */
  readonly subnet: string;
  /** The address of the host in it, which containers have as their gateway. */
  readonly gateway: string;
}

/** The network that the host is to have, of all who want something: the config, and sources that tell of peers. */
export interface DesiredNetwork {
  readonly routes: readonly DesiredRoute[];
  /** Hosts whose containers are reached through them. Each is judged at each plan. */
  readonly peers?: readonly DesiredPeer[];
  /** The network of the host's own containers. Absent: none, and what wins made of an earlier one goes. */
  readonly own?: DesiredSubnet | undefined;
  /** Networks that subnets of peers must lie in, and that own containers may reach; at most 8. Default: the private ones of RFC 1918. */
  readonly cluster?: readonly string[];
  /** Addresses that no peer may take over: resolvers, the Rancher server, the API server. */
  readonly reserved?: readonly string[];
  /**
   * Whether a source of peers has told nothing yet since the start. What is ours and not wanted stays until it has; routes of
   * `routes` are changed all the same. Default: false.
   */
  readonly holds?: boolean;
}

/** The metric that `New-NetRoute` of Windows gives. A route of somebody else with a lower one goes first. */
export const DEFAULT_METRIC = 256;

/**
 * The addresses of a cloud that its machines reach through their gateway: metadata, and what else lies outside of every network that
 * the machine is in. The agents of the clouds add the same routes when a machine starts.
 */
export const CLOUD_ADDRESSES = {
  /** Metadata, DNS, time, licence activation and the second metadata address, as EC2Launch routes them. */
  aws: [
    ...['169.254.169.254', '169.254.169.253', '169.254.169.123'],
    ...['169.254.169.249', '169.254.169.250', '169.254.169.251'],
  ],
  /** Metadata, and the platform (WireServer). */
  azure: ['169.254.169.254', '168.63.129.16'],
  gce: ['169.254.169.254'],
  /** Metadata and DNS of Rancher, which are containers of this host: on its own network, not behind its gateway. */
  rancher: ['169.254.169.250', '169.254.169.251'],
} as const;

export type Cloud = keyof typeof CLOUD_ADDRESSES;

/** Goes before the routes of a cloud to the same addresses, which stay. */
const CONTAINER_METRIC = 1;

/** Routes to the addresses of these clouds, each once, through the default gateway; those of Rancher go before those of others. */
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
