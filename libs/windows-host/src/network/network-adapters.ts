import {
  messageOf,
  type IpNetwork,
  formatAddress,
  formatNetwork,
  networkOf,
  overlap,
  parseAddress,
  quoteText,
  type NetworkAdapter,
  type NetworkSelector,
} from '@wins/base';
import { readSocketAddress, isOnLink, type ForwardRow } from './routes.js';
import { checkStatus } from '../win32/calls/call.js';
import { loadKoffi } from '../win32/calls/system-library.js';
import { ipHelper } from '../win32/ip-helper.js';
import { IP_ADAPTER_ADDRESSES, IP_ADAPTER_UNICAST_ADDRESS } from '../win32/structures.js';
import { WindowsError } from '../windows-error.js';

/** A network adapter with its addresses, as the IP Helper API lists it. */
export interface AdapterEntry {
  /** Interface index, by which routes refer to the adapter. */
  readonly index: number;
  readonly guid: string;
  readonly name: string;
  readonly isUp: boolean;
  /** Added to the metric of each route through the adapter. */
  readonly metrics: { readonly ipv4: number; readonly ipv6: number };
  readonly addresses: readonly IpNetwork[];
}

/** The status that asks for a larger buffer. */
const ERROR_BUFFER_OVERFLOW = 111;
/** The status when no adapter has an address. */
const ERROR_NO_DATA = 232;
const IF_OPER_STATUS_UP = 1;
const AF_UNSPEC = 0;
/** Omits anycast addresses, multicast addresses and DNS servers. */
const GAA_FLAGS = 0x2 | 0x4 | 0x8;

// The documentation recommends this size for the first call.
const FIRST_SIZE_BYTES = 15_000;
const MAX_SIZE_BYTES = 64 * 1024 * 1024;
// Adapters may be added between two calls, but not endlessly.
const MAX_TRIES = 5;

/** @throws WindowsError `unavailable`; `unknown` when the list keeps growing or the answer is invalid. */
export function networkAdapters(): readonly AdapterEntry[] {
  const { GetAdaptersAddresses } = ipHelper;
  return readAdapters({
    call: (buffer, size) => GetAdaptersAddresses(AF_UNSPEC, GAA_FLAGS, null, buffer, size),
    addressOf: (buffer) => loadKoffi().address(buffer),
  });
}

/** Repeats the call with a larger buffer, up to a limit. `call` writes the needed size into `size`. */
export function readAdapters({
  call,
  addressOf,
}: {
  readonly call: (buffer: Buffer, size: [number]) => number;
  readonly addressOf: (buffer: Buffer) => bigint;
}): readonly AdapterEntry[] {
  const tried = 'cannot list the network adapters';
  const functionName = 'GetAdaptersAddresses';
  let capacity = FIRST_SIZE_BYTES;
  for (let tries = 0; tries < MAX_TRIES && capacity <= MAX_SIZE_BYTES; tries += 1) {
    const buffer = Buffer.alloc(capacity);
    const size: [number] = [capacity];
    const status = call(buffer, size);
    if (status === ERROR_NO_DATA) return [];
    checkStatus(tried, functionName, status, ERROR_BUFFER_OVERFLOW);
    if (status === 0) {
      try {
        return decodeAdapters(buffer, addressOf(buffer));
      } catch (cause) {
        const message = `${tried}: ${functionName} returned invalid data: ${messageOf(cause)}`;
        throw new WindowsError('unknown', message, { cause });
      }
    }
    capacity = Math.max(size[0], capacity + 1);
  }
  const found = `${functionName} asked for ${capacity} bytes after ${MAX_TRIES} tries`;
  throw new WindowsError('unknown', `${tried}: ${found}; wanted at most ${MAX_SIZE_BYTES}`);
}

/**
 * Decodes linked structures inside one buffer.
 *
 * @param baseAddress - Address of the buffer in memory, to convert pointers to offsets.
 * @throws RangeError for a pointer out of the buffer, and for an endless list.
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
      // Each item takes at least a byte, so a longer list contains a cycle.
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
      // If a length is illegal, the system reports 255. Use the longest legal length instead.
      return own
        ? [{ bytes: own, prefix: Math.min(entry.OnLinkPrefixLength, own.length * 8) }]
        : [];
    }),
  }));
}

interface NetworkState {
  readonly adapters: readonly AdapterEntry[];
  readonly rows: readonly ForwardRow[];
  readonly hostName: string;
}

const FAMILIES = [4, 16] as const;
const LINK_LOCAL: readonly IpNetwork[] = [
  { bytes: Uint8Array.of(169, 254, 0, 0), prefix: 16 },
  { bytes: Buffer.from('fe800000000000000000000000000000', 'hex'), prefix: 10 },
];

/**
 * Selects an adapter by friendly name, GUID or address; by default the one with the default route. Prefers IPv4, the
 * lowest metric, and an address that reaches the gateway.
 *
 * @throws WindowsError `notFound`; `invalidArgument` for a text that is not an address.
 */
export function selectAdapter(state: NetworkState, which?: NetworkSelector): NetworkAdapter {
  if (which === undefined) return byDefaultRoute(state);
  return 'name' in which ? byName(state, which.name) : byAddress(state, which.address);
}

/** The default route with the lowest total metric, of one adapter or of all. */
export function defaultRoute(
  { adapters, rows }: Pick<NetworkState, 'adapters' | 'rows'>,
  family: number,
  interfaceIndex?: number,
): ForwardRow | undefined {
  const cost = (row: ForwardRow): number => {
    const metrics = adapters.find(({ index }) => index === row.interfaceIndex)?.metrics;
    return row.metric + (family === 4 ? (metrics?.ipv4 ?? 0) : (metrics?.ipv6 ?? 0));
  };
  return rows
    .filter(({ destination: { bytes, prefix } }) => bytes.length === family && prefix === 0)
    .filter((row) => (interfaceIndex ?? row.interfaceIndex) === row.interfaceIndex)
    .filter((row) => adapters.some(({ index, isUp }) => isUp && index === row.interfaceIndex))
    .sort((a, b) => cost(a) - cost(b))[0];
}

function byDefaultRoute(state: NetworkState): NetworkAdapter {
  for (const family of FAMILIES) {
    const route = defaultRoute(state, family);
    const adapter = state.adapters.find(({ index }) => index === route?.interfaceIndex);
    const found = adapter && describeIn(family, state, adapter);
    if (found !== undefined) return found;
  }
  const found = `none of ${state.adapters.length} adapters has one`;
  throw new WindowsError('notFound', `cannot find the adapter with the default route: ${found}`);
}

function byName(state: NetworkState, name: string): NetworkAdapter {
  const wanted = name.toLowerCase();
  const tried = `cannot find the network adapter ${quoteText(name)}`;
  const adapter = state.adapters.find((entry) =>
    [entry.name, entry.guid].some((known) => known.toLowerCase() === wanted),
  );
  if (adapter === undefined) {
    const known = state.adapters.map((entry) => quoteText(entry.name)).join(', ');
    throw new WindowsError('notFound', `${tried}: there are only ${known}`);
  }
  const [found] = FAMILIES.flatMap((family) => describeIn(family, state, adapter) ?? []);
  if (found === undefined) throw new WindowsError('notFound', `${tried}: it has no address`);
  return found;
}

function byAddress(state: NetworkState, text: string): NetworkAdapter {
  const tried = `cannot find the network adapter with the address ${quoteText(text)}`;
  const wanted = parseAddress(text);
  if (wanted === undefined) {
    throw new WindowsError('invalidArgument', `${tried}: it is not an IPv4 or IPv6 address`);
  }
  for (const adapter of state.adapters) {
    const own = adapter.addresses.find(({ bytes }) => Buffer.compare(bytes, wanted) === 0);
    if (own !== undefined) return describe(state, adapter, own);
  }
  throw new WindowsError('notFound', `${tried}: no adapter has it`);
}

/** Prefers addresses that are not link-local; of these, prefers one that reaches the gateway. */
function describeIn(
  family: number,
  state: NetworkState,
  adapter: AdapterEntry,
): NetworkAdapter | undefined {
  const gateway = defaultRoute(state, family, adapter.index)?.nextHop;
  const all = adapter.addresses.filter(({ bytes }) => bytes.length === family);
  const wide = all.filter(({ bytes }) => !LINK_LOCAL.some((net) => overlap(alone(bytes), net)));
  const reaching = wide.find((net) => gateway !== undefined && overlap(alone(gateway), net));
  const own = reaching ?? wide[0] ?? all[0];
  return own && describe(state, adapter, own);
}

function describe(state: NetworkState, adapter: AdapterEntry, own: IpNetwork): NetworkAdapter {
  const gateway = defaultRoute(state, own.bytes.length, adapter.index)?.nextHop;
  return {
    interfaceIndex: String(adapter.index),
    gatewayAddress: gateway === undefined || isOnLink(gateway) ? '' : formatAddress(gateway),
    subnetCidr: formatNetwork(networkOf(own)),
    hostName: state.hostName,
    addressCidr: formatNetwork(alone(own.bytes)),
  };
}

function alone(bytes: Uint8Array): IpNetwork {
  return { bytes, prefix: bytes.length * 8 };
}
