import { quoteText } from '../text/escape-text.js';
import {
  formatAddress,
  formatNetwork,
  networkOf,
  parseNetwork,
  unroutableReason,
  type IpNetwork,
} from '../ip-network.js';

const MAX_ROUTE_DESTINATIONS = 256;

const SHOWN_LENGTH = 64;

/** The destinations of one call, or the reason for its refusal. */
export type RouteDestinations =
  | { readonly networks: readonly IpNetwork[] }
  | { readonly refused: string };

/**
 * Parses requested route destinations, such as `8.8.8.8` or `10.1.0.0/16`, and removes repeats. Refuses an empty list, more
 * than 256 texts, bits set below the prefix, and all that {@link unroutableReason} refuses.
 */
export function readRouteDestinations(texts: readonly string[]): RouteDestinations {
  if (texts.length === 0 || texts.length > MAX_ROUTE_DESTINATIONS) {
    return { refused: `found ${texts.length} addresses; wanted 1 to ${MAX_ROUTE_DESTINATIONS}` };
  }
  const networks = new Map<string, IpNetwork>();
  for (const text of texts) {
    const network = parseNetwork(text);
    if (network === undefined) {
      const wanted = 'wanted for example 8.8.8.8, 10.1.0.0/16 or 2001:db8::1';
      return { refused: `${shown(text)} is not an address; ${wanted}` };
    }
    const cidr = formatNetwork(networkOf(network));
    const reason = unroutableReason(networkOf(network)) ?? hostBitsReason(network, cidr);
    if (reason !== undefined) return { refused: `${shown(text)} cannot be routed: ${reason}` };
    networks.set(cidr, network);
  }
  return { networks: [...networks.values()] };
}

function hostBitsReason(network: IpNetwork, cidr: string): string | undefined {
  const isMasked = `${formatAddress(network.bytes)}/${network.prefix}` === cidr;
  return isMasked ? undefined : `it has bits set below its prefix; wanted ${cidr}`;
}

function shown(text: string): string {
  return quoteText(text.slice(0, SHOWN_LENGTH));
}
