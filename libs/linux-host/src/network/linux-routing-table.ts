import { formatAddress, formatNetwork, networkOf } from '@wins/base';

export interface LinuxRoute {
  readonly family: 'ipv4' | 'ipv6';
  readonly interfaceName: string;
  readonly destinationCidr: string;
  /** Empty when the interface reaches the destination directly, or through an IPv6 address. */
  readonly gateway: string;
  readonly metric: number;
  /** Whether a route of IPv4 leads to a next hop of IPv6, whose address `/proc` does not show. */
  readonly isOverIpv6?: true;
}

// From linux/route.h and linux/ipv6_route.h.
const UP = 0x0001;
const GATEWAY = 0x0002;
const REJECT = 0x0200;
const LOCAL = 0x8000_0000;
const MULTICAST = 0xff;

/**
 * Parses `/proc/net/route`: the main table of IPv4. Its addresses are integers in the machine's byte order. Skips lines in another format.
 */
export function parseIpv4Routes(text: string, order: 'LE' | 'BE'): readonly LinuxRoute[] {
  return text.split('\n').flatMap((line) => {
    const [interfaceName, destination, gateway, flags, , , metric, mask] = line.trim().split(/\s+/);
    const [to, through, bits] = [destination, gateway, mask].map((hex) => bytesOf(hex, 4));
    if (!interfaceName || !to || !through || !bits || !isUsable(flags)) return [];
    if (order === 'LE') for (const bytes of [to, through, bits]) bytes.reverse();
    const via = addressOrNone(through);
    const hasGateway = (parseInt(flags ?? '', 16) & GATEWAY) !== 0;
    const prefix = bits.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
    return [
      {
        family: 'ipv4' as const,
        interfaceName,
        destinationCidr: formatNetwork(networkOf({ bytes: to, prefix })),
        gateway: via,
        metric: Number(metric),
        ...(hasGateway && via === '' && { isOverIpv6: true as const }),
      },
    ];
  });
}

/** Parses `/proc/net/ipv6_route`; omits routes that reject packets, and routes to multicast or to this host's own addresses. */
export function parseIpv6Routes(text: string): readonly LinuxRoute[] {
  return text.split('\n').flatMap((line) => {
    const [destination, prefix, , , nextHop, metric, , , flags, interfaceName] = line
      .trim()
      .split(/\s+/);
    const [to, through] = [destination, nextHop].map((hex) => bytesOf(hex, 16));
    if (!interfaceName || !to || !through || !isUsable(flags) || to[0] === MULTICAST) return [];
    return [
      {
        family: 'ipv6' as const,
        interfaceName,
        destinationCidr: formatNetwork({ bytes: to, prefix: parseInt(prefix ?? '', 16) }),
        gateway: addressOrNone(through),
        metric: parseInt(metric ?? '', 16),
      },
    ];
  });
}

/** Returns the default route with the lowest metric; without a family, IPv4 first. */
export function defaultRouteOf(
  routes: readonly LinuxRoute[],
  family?: LinuxRoute['family'],
): LinuxRoute | undefined {
  const [best] = routes
    .filter((route) => isDefault(route) && (family === undefined || route.family === family))
    .sort((a, b) => a.family.localeCompare(b.family) || a.metric - b.metric);
  return best;
}

export function isDefault({ destinationCidr }: LinuxRoute): boolean {
  return destinationCidr === '0.0.0.0/0' || destinationCidr === '::/0';
}

function isUsable(flags: string | undefined): boolean {
  const value = parseInt(flags ?? '', 16);
  return (value & UP) !== 0 && (value & REJECT) === 0 && (value & LOCAL) === 0;
}

function bytesOf(hex: string | undefined, length: number): Uint8Array | undefined {
  if (hex === undefined || !new RegExp(`^[0-9a-fA-F]{${length * 2}}$`).test(hex)) return undefined;
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

function addressOrNone(bytes: Uint8Array): string {
  return bytes.every((byte) => byte === 0) ? '' : formatAddress(bytes);
}
