import { HostSystemError } from './host-system-error.js';
import {
  formatAddress,
  formatNetwork,
  networkOf,
  parseNetwork,
  unroutableReason,
  type IpNetwork,
} from './ip-network.js';

/** More than a node has any use for, and few enough for one call. */
const MAX_ADDRESSES = 256;

/** Longest piece of a wrong text that an error repeats. */
const SHOWN_LENGTH = 64;

/** Where a route leads to. */
export interface Destination {
  /** The shortest canonical form: a host as its address alone, a network as `10.1.0.0/16`. */
  readonly text: string;
  /** Always with the prefix: `8.8.8.8/32`. */
  readonly cidr: string;
  readonly family: 'ipv4' | 'ipv6';
  readonly network: IpNetwork;
}

/**
 * Reads destinations of routes and gives each once, bits below the prefix left out. At most 256.
 *
 * @throws HostSystemError `invalid-argument` for none, too many, a text that is no address, the default route, loopback,
 *   link-local and multicast addresses.
 */
export function parseDestinations(texts: readonly string[]): readonly Destination[] {
  if (texts.length === 0 || texts.length > MAX_ADDRESSES) {
    throw invalid(`found ${texts.length} addresses; wanted 1 to ${MAX_ADDRESSES}`);
  }
  const destinations = texts.map(parseDestination);
  return [...new Map(destinations.map((destination) => [destination.cidr, destination])).values()];
}

function parseDestination(text: string): Destination {
  const parsed = parseNetwork(text);
  if (parsed === undefined) {
    throw invalid(
      `${shown(text)} is no address; wanted for example 8.8.8.8, 10.1.0.0/16 or 2001:db8::1`,
    );
  }
  const network = networkOf(parsed);
  const reason = unroutableReason(network);
  if (reason !== undefined) throw invalid(`${shown(text)} cannot be routed: ${reason}`);
  const cidr = formatNetwork(network);
  const isHost = network.prefix === network.bytes.length * 8;
  return {
    text: isHost ? formatAddress(network.bytes) : cidr,
    cidr,
    family: network.bytes.length === 4 ? 'ipv4' : 'ipv6',
    network,
  };
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, SHOWN_LENGTH));
}

function invalid(message: string): HostSystemError {
  return new HostSystemError('invalid-argument', message);
}
