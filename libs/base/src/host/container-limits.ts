import { parseNetwork } from '../ip-network.js';

/** An IPv4 network as numbers. */
export interface AddressRange {
  readonly net: number;
  readonly mask: number;
}

/** Where both ends of what containers send and get are. */
export interface ContainerLimits {
  /** Where containers are themselves. */
  readonly near: readonly AddressRange[];
  readonly away: readonly AddressRange[];
}

/** The metadata and the DNS address of Rancher, which containers serve. */
const METADATA = '169.254.169.250/31';
const MAX_NETWORKS = 16;

/**
 * Reads the value of a filter: the network of the containers, then those that they may reach. The metadata addresses of Rancher are
 * among both.
 *
 * @returns undefined for what are no networks, or too many of them.
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

/** Undefined for what is no network of IPv4, or all of it. */
export function addressRange(text: string): AddressRange | undefined {
  const network = parseNetwork(text);
  if (network?.bytes.length !== 4 || network.prefix === 0) return undefined;
  const number = network.bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  const size = 2 ** (32 - network.prefix);
  return number % size === 0 ? { mask: 2 ** 32 - size, net: number } : undefined;
}
