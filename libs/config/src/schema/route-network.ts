import { isIpv4LinkLocal, networkOf, overlap, parseNetwork } from '@wins/wins-program';

/** A larger network, such as half of all addresses, would take over the default route. */
const SHORTEST_PREFIX = 8;

/** Where no route may lead: this host, loopback, multicast, reserved, IPv6 link-local. `::/8` holds the IPv4-mapped addresses, too. */
const NEVER = [
  ...['0.0.0.0/8', '127.0.0.0/8', '224.0.0.0/3'],
  ...['::/8', 'fe80::/10', 'ff00::/8'],
].flatMap((text) => parseNetwork(text) ?? []);

/**
 * Whether routes into a network may be granted: `10.42.0.0/16`, `2001:db8::/32`, or one address. It has a prefix of 8 bits at
 * least, no bit set below it, and nothing in common with loopback, link-local, multicast and reserved addresses; but one address of
 * 169.254.0.0/16 by itself may be granted, because clouds serve their metadata there.
 */
export function isRouteNetwork(text: string): boolean {
  // Both signs: an IPv4 address within an IPv6 address.
  if (text.includes('.') && text.includes(':')) return false;
  const network = parseNetwork(text);
  if (network === undefined || network.prefix < SHORTEST_PREFIX) return false;
  if (network.prefix < 32 && isIpv4LinkLocal(network)) return false;
  if (Buffer.compare(network.bytes, networkOf(network).bytes) !== 0) return false;
  return !NEVER.some((never) => overlap(network, never));
}

/** Whether a text is a network that is refused because it has link-local addresses of IPv4 in it. */
export function isLinkLocalNetwork(text: string): boolean {
  const network = parseNetwork(text);
  return network !== undefined && network.prefix >= SHORTEST_PREFIX && isIpv4LinkLocal(network);
}
