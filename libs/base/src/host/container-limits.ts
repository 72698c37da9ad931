import { parseNetwork } from '../ip-network.js';

/** An IPv4 network as numbers. */
export interface AddressRange {
  /** Network address as an unsigned 32-bit number. */
  readonly net: number;
  /** Network mask as an unsigned 32-bit number. */
  readonly mask: number;
}

/** Packets may pass only between a `near` and an `away` network. */
export interface ContainerLimits {
  /** The containers' own network and Rancher's metadata addresses. */
  readonly near: readonly AddressRange[];
  readonly away: readonly AddressRange[];
}

/** Addresses of Rancher's metadata and DNS services, which run in containers. */
const METADATA = '169.254.169.250/31';
const MAX_NETWORKS = 16;

/**
 * Parses the value of a `NetworkItem` of kind `filter`: first the containers' own network, then the networks that they may reach.
 * Adds Rancher's metadata addresses to `near` and `away`. Returns undefined for invalid text or more than 16 networks.
 */
export function containerLimits(networks: readonly string[]): ContainerLimits | undefined {
  if (networks.length > MAX_NETWORKS) return undefined;
  const ranges = [...networks, METADATA].flatMap((text) => addressRange(text) ?? []);
  const [own, ...away] = ranges;
  const metadata = away.at(-1);
  const isFit = ranges.length === networks.length + 1;
  return isFit && own !== undefined && metadata !== undefined
    ? { near: [own, metadata], away }
    : undefined;
}

/** Undefined for text that is not an IPv4 network, and for the whole IPv4 range. */
export function addressRange(text: string): AddressRange | undefined {
  const network = parseNetwork(text);
  if (network?.bytes.length !== 4 || network.prefix === 0) return undefined;
  const number = network.bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  const size = 2 ** (32 - network.prefix);
  return number % size === 0 ? { mask: 2 ** 32 - size, net: number } : undefined;
}
