import { messageOf, type IpNetwork } from '@wins/wins-program';
import { readSocketAddress } from './ip-socket-address.js';
import { checkStatus } from '../win32/calls/call.js';
import { loadKoffi } from '../win32/calls/system-library.js';
import { ipHelper } from '../win32/ip-helper.js';
import { IP_ADAPTER_ADDRESSES, IP_ADAPTER_UNICAST_ADDRESS } from '../win32/structures.js';
import { WindowsError } from '../windows-error.js';

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

/** The status that asks for a larger buffer. */
const ERROR_BUFFER_OVERFLOW = 111;
/** No adapter has an address. */
const ERROR_NO_DATA = 232;
const IF_OPER_STATUS_UP = 1;
const AF_UNSPEC = 0;
/** Neither anycast nor multicast addresses nor DNS servers. */
const GAA_FLAGS = 0x2 | 0x4 | 0x8;

// What the documentation advises to begin with.
const FIRST_SIZE_BYTES = 15_000;
const MAX_SIZE_BYTES = 64 * 1024 * 1024;
// Adapters may come between two calls, but not forever.
const MAX_TRIES = 5;

/**
 * Lists the network adapters of the host, with IPv4 and IPv6.
 *
 * @throws WindowsError `unavailable`; `unknown` when their number kept growing, or the answer is invalid.
 */
export function networkAdapters(): readonly AdapterEntry[] {
  const { GetAdaptersAddresses } = ipHelper;
  return readAdapters({
    call: (buffer, size) => GetAdaptersAddresses(AF_UNSPEC, GAA_FLAGS, null, buffer, size),
    addressOf: (buffer) => loadKoffi().address(buffer),
  });
}

/** The one call that lists adapters, and where in memory it wrote them. */
export interface AdapterListing {
  /** Fills the buffer; says in `size` how large it should be when it is too small. */
  readonly call: (buffer: Buffer, size: [number]) => number;
  readonly addressOf: (buffer: Buffer) => bigint;
}

/** Calls with a larger buffer for as long as the system asks for one, within bounds. */
export function readAdapters({ call, addressOf }: AdapterListing): readonly AdapterEntry[] {
  const tried = 'listed the network adapters';
  const functionName = 'GetAdaptersAddresses';
  let room = FIRST_SIZE_BYTES;
  for (let tries = 0; tries < MAX_TRIES && room <= MAX_SIZE_BYTES; tries += 1) {
    const buffer = Buffer.alloc(room);
    const size: [number] = [room];
    const status = call(buffer, size);
    if (status === ERROR_NO_DATA) return [];
    checkStatus(tried, functionName, status, ERROR_BUFFER_OVERFLOW);
    if (status === 0) {
      try {
        return decodeAdapters(buffer, addressOf(buffer));
      } catch (cause) {
        const message = `${tried}: ${functionName} wrote nonsense: ${messageOf(cause)}`;
        throw new WindowsError('unknown', message, { cause });
      }
    }
    room = Math.max(size[0], room + 1);
  }
  const found = `${functionName} asked for ${room} bytes after ${MAX_TRIES} tries`;
  throw new WindowsError('unknown', `${tried}: ${found}; wanted at most ${MAX_SIZE_BYTES}`);
}

/**
 * Reads what GetAdaptersAddresses wrote: lists of structures that point at each other inside one buffer.
 *
 * @param baseAddress where the buffer is in memory, so that pointers become offsets.
 * @throws RangeError for a pointer that leads outside of the buffer, and for lists that never end.
 */
export function decodeAdapters(bytes: Buffer, baseAddress: bigint): AdapterEntry[] {
  const offsetOf = (pointer: bigint): number => {
    const target = pointer - baseAddress;
    if (target >= 0n && target < BigInt(bytes.length)) return Number(target);
    throw new RangeError(`a pointer leads ${target} bytes into a buffer of ${bytes.length}`);
  };
  const walk = <T extends { readonly Next: bigint | null }>(
    type: { read(memory: Buffer, offset: number): T },
    first: bigint | null,
  ): T[] => {
    const items: T[] = [];
    for (let at = first; at !== null; at = items.at(-1)?.Next ?? null) {
      items.push(type.read(bytes, offsetOf(at)));
      // Each of them takes more than a byte.
      if (items.length > bytes.length) throw new RangeError('a list leads back into itself');
    }
    return items;
  };
  const text = (pointer: bigint | null, encoding: 'latin1' | 'utf16le'): string =>
    pointer === null ? '' : (bytes.toString(encoding, offsetOf(pointer)).split('\0', 1)[0] ?? '');

  const first = bytes.length === 0 ? null : baseAddress;
  return walk(IP_ADAPTER_ADDRESSES, first).map((adapter) => ({
    index: adapter.IfIndex || adapter.Ipv6IfIndex,
    guid: text(adapter.AdapterName, 'latin1'),
    name: text(adapter.FriendlyName, 'utf16le'),
    isUp: adapter.OperStatus === IF_OPER_STATUS_UP,
    metrics: { ipv4: adapter.Ipv4Metric, ipv6: adapter.Ipv6Metric },
    addresses: walk(IP_ADAPTER_UNICAST_ADDRESS, adapter.FirstUnicastAddress).flatMap((entry) => {
      const target = entry.lpSockaddr;
      const own = target === null ? undefined : readSocketAddress(bytes, offsetOf(target));
      // 255 stands for an illegal length.
      return own
        ? [{ bytes: own, prefix: Math.min(entry.OnLinkPrefixLength, own.length * 8) }]
        : [];
    }),
  }));
}
