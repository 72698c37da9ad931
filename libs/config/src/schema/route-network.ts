import { networkOf, overlap, parseNetwork } from '@wins/wins-program';

/** A larger network, such as half of all addresses, would take over the default route. */
const SHORTEST_PREFIX = 8;

/** Where no route may lead: this host, loopback, link-local, multicast, reserved. `::/8` holds the IPv4-mapped addresses, too. */
const NEVER = [
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3'],
  ...['::/8', 'fe80::/10', 'ff00::/8'],
].flatMap((text) => parseNetwork(text) ?? []);

/**
 * Whether routes into a network may be granted: `10.42.0.0/16`, `2001:db8::/32`, or one address. It has a prefix of 8 bits at
 * least, no bit set below it, and nothing in common with loopback, link-local, multicast and reserved addresses.
 */
export function isRouteNetwork(text: string): boolean {
  // Both signs: an IPv4 address within an IPv6 address.
  if (text.includes('.') && text.includes(':')) return false;
  const network = parseNetwork(text);
  if (network === undefined || network.prefix < SHORTEST_PREFIX) return false;
  if (Buffer.compare(network.bytes, networkOf(network).bytes) !== 0) return false;
  return !NEVER.some((never) => overlap(network, never));
}
