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
  /** The shortest canonical form: a host as its address alone, a network as `10.1.0.0/16`. */
  readonly text: string;
  /** Always with the prefix: `8.8.8.8/32`. */
  readonly cidr: string;
  readonly network: IpNetwork;
}

/**
 * Reads destinations of routes and gives each once, bits below the prefix left out. At most 256.
 *
 * @throws FeatureError `invalidArgument` for what `readRouteDestinations` of `@wins/base` refuses: none, too many, a text
 *   that is not an address, the default route, loopback, multicast, networks of link-local addresses.
 */
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

/** Networks and addresses around the host that no client may lead elsewhere. */
export interface OwnNetworks {
  /**
   * The networks that its adapters are in. Of a link-local one the adapter's own address alone: an adapter that found no DHCP server is
   * in 169.254.0.0/16, where the metadata of a cloud is too, and that is not behind this adapter.
   */
  readonly networks: readonly IpNetwork[];
  /** The next hops that its routes lead to. */
  readonly gateways: readonly IpNetwork[];
}

/** The host's own networks, as its adapters and its routing table have them now. */
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
 * Judges whether routes to these destinations may be added or removed: each must lie within one granted network, and have
 * nothing in common with the host's own networks and gateways, wherever these lie. A link-local address, such as the metadata of a
 * cloud, needs a grant of exactly itself.
 *
 * @param granted - `routes.allow` of the config.
 * @throws FeatureError `notGranted` for the first that may not.
 */
export function assertGranted(
  destinations: readonly Destination[],
  granted: readonly string[],
  own: OwnNetworks,
): void {
  for (const destination of destinations) {
    const reason = refusal(destination, granted, own);
    if (reason !== undefined) {
      throw new FeatureError('notGranted', `${destination.cidr} cannot be routed: ${reason}`);
    }
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
    const count = granted.length === 0 ? 'no networks' : `${granted.length} others`;
    const wanted = isLinkLocal ? 'this address itself' : 'a network that contains it';
    return `routes.allow of the daemon's config has ${count}; wanted ${wanted}`;
  }
  const own = networks.find((other) => overlap(other, network));
  if (own !== undefined) return `the host itself is in ${formatNetwork(own)}`;
  const gateway = gateways.find((other) => overlap(other, network));
  return gateway && `the host's gateway ${formatAddress(gateway.bytes)} is in it`;
}
