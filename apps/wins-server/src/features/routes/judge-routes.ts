import {
  formatAddress,
  formatNetwork,
  isIpv4LinkLocal,
  networkOf,
  overlap,
  parseNetwork,
  readRouteDestinations,
  type IpNetwork,
  type RouteEntry,
} from '@wins/base';
import { networkInterfaces } from 'node:os';
import { FeatureError } from '../../kernel/feature-error.js';

export interface Destination {
  /** Shortest canonical form: a host as its address, a network as `10.1.0.0/16`. */
  readonly text: string;
  /** Form with a prefix: `8.8.8.8/32`. */
  readonly cidr: string;
  readonly network: IpNetwork;
}

/** Parses at most 256 destinations, and drops duplicates and host bits. @throws FeatureError `invalidArgument`. */
export function parseDestinations(texts: readonly string[]): readonly Destination[] {
  const read = readRouteDestinations(texts.map(withoutHostBits));
  if ('refused' in read) throw new FeatureError('invalidArgument', read.refused);
  return read.networks.map((network) => {
    const cidr = formatNetwork(network);
    const isHost = network.prefix === network.bytes.length * 8;
    return { text: isHost ? formatAddress(network.bytes) : cidr, cidr, network };
  });
}

function withoutHostBits(text: string): string {
  const network = parseNetwork(text);
  return network === undefined ? text : formatNetwork(networkOf(network));
}

/** The host's own networks and gateways. Clients may not change routes to destinations that overlap them. */
export interface OwnNetworks {
  /** In a link-local network only the adapter's own address counts, because such a network also contains the cloud metadata address. */
  readonly networks: readonly IpNetwork[];
  readonly gateways: readonly IpNetwork[];
}

export function ownNetworks(
  routes: readonly RouteEntry[],
  adapters: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): OwnNetworks {
  const networks = Object.values(adapters).flatMap((addresses = []) =>
    addresses.flatMap(({ address, cidr }) => {
      const own = networkNamed(address);
      return own.some(isIpv4LinkLocal) ? own : networkNamed(cidr ?? address);
    }),
  );
  return { networks, gateways: routes.flatMap(({ gateway }) => networkNamed(gateway)) };
}

function networkNamed(text: string): readonly IpNetwork[] {
  const parsed = parseNetwork(text);
  return parsed === undefined ? [] : [networkOf(parsed)];
}

/**
 * Each destination must lie within one granted network, and must not overlap the host's own networks and gateways. A link-local address, such as that
 * of a cloud's metadata service, needs a grant of exactly that address.
 *
 * @param granted - `routes.allow` of the config.
 * @throws FeatureError `notGranted` for the first refused destination.
 */
export function assertGranted(
  destinations: readonly Destination[],
  granted: readonly string[],
  own: OwnNetworks,
): void {
  for (const destination of destinations) {
    const reason = refusal(destination, granted, own);
    if (reason !== undefined)
      throw new FeatureError('notGranted', `${destination.cidr} cannot be routed: ${reason}`);
  }
}

function refusal(
  { network }: Destination,
  granted: readonly string[],
  { networks, gateways }: OwnNetworks,
): string | undefined {
  const isLinkLocal = isIpv4LinkLocal(network);
  const isGranted = granted.some((text) => {
    const grant = parseNetwork(text);
    if (grant === undefined || !overlap(grant, network)) return false;
    return isLinkLocal ? grant.prefix === network.prefix : grant.prefix <= network.prefix;
  });
  if (!isGranted) {
    const count = granted.length === 0 ? 'no networks' : `only other networks (${granted.length})`;
    const wanted = isLinkLocal ? 'this address itself' : 'a network that contains it';
    return `routes.allow of the daemon's config has ${count}; wanted ${wanted}`;
  }
  const own = networks.find((other) => overlap(other, network));
  if (own !== undefined) return `the host itself is in ${formatNetwork(own)}`;
  const gateway = gateways.find((other) => overlap(other, network));
  return gateway && `the host's gateway ${formatAddress(gateway.bytes)} is in it`;
}
