import {
  formatAddress,
  formatNetwork,
  networkOf,
  parseNetwork,
  readRouteDestinations,
  type IpNetwork,
} from '@wins/wins-program';
import { FeatureError } from '../feature-error.js';

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
 * @throws FeatureError `invalidArgument` for what `readRouteDestinations` of `@wins/wins-program` refuses: none, too many, a text
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
