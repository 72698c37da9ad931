import type { IpNetwork } from './ip-address.js';
import { readSocketAddress } from './ip-socket-address.js';

/** An adapter as the system lists it. */
export interface AdapterEntry {
  /** The number by which routes name it. */
  readonly index: number;
  /** A GUID in braces. */
  readonly guid: string;
  /** The name that people gave it, such as `Ethernet`. */
  readonly name: string;
  readonly isUp: boolean;
  /** What an IPv4 or IPv6 route through it costs on top of the route's own metric. */
  readonly metrics: { readonly ipv4: number; readonly ipv6: number };
  /** Its own addresses, each with the length of the network that it is in. */
  readonly addresses: readonly IpNetwork[];
}

/** Where the fields of IP_ADAPTER_ADDRESSES are in a 64-bit program. */
const ADAPTER = {
  ifIndex: 4,
  next: 8,
  adapterName: 16,
  firstUnicastAddress: 24,
  friendlyName: 72,
  operStatus: 104,
  ipv6IfIndex: 108,
  ipv4Metric: 216,
  ipv6Metric: 220,
} as const;
/** The same of IP_ADAPTER_UNICAST_ADDRESS. */
const ADDRESS = { next: 8, sockaddr: 16, onLinkPrefixLength: 56 } as const;

const IF_OPER_STATUS_UP = 1;

/**
 * Reads what GetAdaptersAddresses wrote: lists of structures that point at each other inside one buffer.
 * https://learn.microsoft.com/windows/win32/api/iptypes/ns-iptypes-ip_adapter_addresses_lh
 *
 * @param baseAddress where the buffer is in memory, so that pointers become offsets.
 * @throws RangeError for a pointer that leads outside of the buffer, and for lists that never end.
 */
export function decodeAdapters(bytes: Buffer, baseAddress: bigint): AdapterEntry[] {
  const follow = (offset: number): number | undefined => {
    const pointer = bytes.readBigUInt64LE(offset);
    if (pointer === 0n) return undefined;
    const target = pointer - baseAddress;
    if (target >= 0n && target < BigInt(bytes.length)) return Number(target);
    throw new RangeError(`a pointer leads ${target} bytes into a buffer of ${bytes.length}`);
  };
  /** The places of the structures of a list. */
  const walk = (first: number | undefined, next: number): number[] => {
    const places: number[] = [];
    for (let place = first; place !== undefined; place = follow(place + next)) {
      places.push(place);
      // Each of them takes more than a byte.
      if (places.length > bytes.length) throw new RangeError('a list leads back into itself');
    }
    return places;
  };
  const text = (offset: number, encoding: 'latin1' | 'utf16le'): string => {
    const start = follow(offset);
    if (start === undefined) return '';
    const [rest] = bytes.toString(encoding, start).split('\0', 1);
    return rest ?? '';
  };

  return walk(bytes.length === 0 ? undefined : 0, ADAPTER.next).map((place) => ({
    index:
      bytes.readUInt32LE(place + ADAPTER.ifIndex) ||
      bytes.readUInt32LE(place + ADAPTER.ipv6IfIndex),
    guid: text(place + ADAPTER.adapterName, 'latin1'),
    name: text(place + ADAPTER.friendlyName, 'utf16le'),
    isUp: bytes.readUInt32LE(place + ADAPTER.operStatus) === IF_OPER_STATUS_UP,
    metrics: {
      ipv4: bytes.readUInt32LE(place + ADAPTER.ipv4Metric),
      ipv6: bytes.readUInt32LE(place + ADAPTER.ipv6Metric),
    },
    addresses: walk(follow(place + ADAPTER.firstUnicastAddress), ADDRESS.next).flatMap((entry) => {
      const target = follow(entry + ADDRESS.sockaddr);
      const address = target === undefined ? undefined : readSocketAddress(bytes, target);
      if (address === undefined) return [];
      // 255 stands for an illegal length.
      const length = bytes.readUInt8(entry + ADDRESS.onLinkPrefixLength);
      return [{ address, prefixLength: Math.min(length, address.length * 8) }];
    }),
  }));
}
