import * as ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/** A larger network, such as half of all addresses, would take over the default route. */
const SHORTEST_PREFIX = 8;

/**
 * Where no route may lead: this host, loopback, link-local, multicast, reserved. `::/8` holds the IPv4-mapped addresses, too.
 */
const NEVER = [
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3'],
  ...['::/8', 'fe80::/10', 'ff00::/8'],
].map((network) => ipaddr.parseCIDR(network));

/**
 * Whether routes into a network may be granted: `10.42.0.0/16`, `2001:db8::/32`, or one address. It has a prefix of 8 bits at
 * least, no bit set below it, and nothing in common with loopback, link-local, multicast and reserved addresses.
 */
export function isRouteNetwork(text: string): boolean {
  const [address = '', prefixText, more] = text.split('/', 3);
  // isIP takes four decimal parts only. A dot in IPv6 is an embedded IPv4 address, a percent sign the zone of a link.
  const family = isIP(address);
  if (family === 0 || more !== undefined || (family === 6 && /[.%]/.test(address))) return false;
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) return false;
  const width = family === 4 ? 32 : 128;
  const prefix = Number(prefixText ?? width);
  if (prefix < SHORTEST_PREFIX || prefix > width) return false;
  const ip = ipaddr.parse(address);
  const first = (family === 4 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(
    `${address}/${prefix}`,
  );
  if (ip.toString() !== first.toString()) return false;
  return !NEVER.some(
    ([never, bits]) => never.kind() === ip.kind() && ip.match(never, Math.min(bits, prefix)),
  );
}
