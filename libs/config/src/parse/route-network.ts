import { isIP } from 'node:net';

/** An IP network as a number: the address, how wide it is, and how many leading bits count. */
interface Network {
  readonly value: bigint;
  readonly width: 32 | 128;
  readonly prefix: number;
}

/** Half of all addresses, or a quarter, is no network: routing it is taking over the default route. */
const SHORTEST_PREFIX = 8;

/** What no route leads to: this host, one link, many hosts, nobody. `::/8` holds IPv4 in IPv6 clothes as well. */
const NEVER = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '::/8', 'fe80::/10', 'ff00::/8'];
/** Multicast and what is reserved above it; shorter than any that may be granted. */
const FIRST_MULTICAST = 224n << 24n;

/**
 * Whether routes into a network may be granted: `10.42.0.0/16`, `2001:db8::/32`, or one address. It has a prefix of 8 bits at
 * least, no bit set below it, and nothing in common with loopback, link-local, multicast and reserved addresses.
 */
export function isRouteNetwork(text: string): boolean {
  const network = parse(text);
  if (network === undefined || network.prefix < SHORTEST_PREFIX) return false;
  const { value, width, prefix } = network;
  if ((value & ((1n << BigInt(width - prefix)) - 1n)) !== 0n) return false;
  if (width === 32 && value >= FIRST_MULTICAST) return false;
  return !NEVER.some((never) => overlap(network, parse(never)));
}

function parse(text: string): Network | undefined {
  const [address = '', prefixText, more] = text.split('/', 3);
  const family = isIP(address);
  // A dot in IPv6 is IPv4 in other clothes, a percent sign the zone of a link.
  if (family === 0 || more !== undefined || (family === 6 && /[.%]/.test(address)))
    return undefined;
  const width = family === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? width : Number(prefixText);
  if (prefixText !== undefined && !(/^\d{1,3}$/.test(prefixText) && prefix <= width))
    return undefined;
  const parts = family === 4 ? address.split('.').map(BigInt) : groupsOf(address);
  const bits = BigInt(width / parts.length);
  return { value: parts.reduce((value, part) => (value << bits) | part, 0n), width, prefix };
}

function groupsOf(address: string): readonly bigint[] {
  const [first = [], last = []] = address
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':').map((group) => BigInt(`0x${group}`))));
  return [...first, ...Array<bigint>(8 - first.length - last.length).fill(0n), ...last];
}

function overlap(one: Network, other: Network | undefined): boolean {
  if (other?.width !== one.width) return false;
  const below = BigInt(one.width - Math.min(one.prefix, other.prefix));
  return one.value >> below === other.value >> below;
}
