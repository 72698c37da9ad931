import {
  formatAddress,
  formatNetwork,
  networkOf,
  overlap,
  parseAddress,
  quoteText,
  type IpNetwork,
  type NetworkAdapter,
  type NetworkSelector,
} from '@wins/wins-program';
import type { AdapterEntry } from './network-adapters.js';
import { isOnLink, type ForwardRow } from './routes.js';
import { WindowsError } from '../windows-error.js';

/** What there is to choose from. */
export interface NetworkState {
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
 * Chooses an adapter: by its friendly name or GUID, by an address of its own, or the one with the default route. IPv4 goes
 * before IPv6, the cheapest default route before others, and an address that reaches the gateway before others.
 *
 * @throws WindowsError `notFound`; `invalidArgument` for a text that is not an address.
 */
export function selectAdapter(state: NetworkState, which?: NetworkSelector): NetworkAdapter {
  if (which === undefined) return byDefaultRoute(state);
  return 'name' in which ? byName(state, which.name) : byAddress(state, which.address);
}

/** The cheapest default route of a family, of one adapter or of all; undefined when there is none. */
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
    const own = adapter && preferredAddress(adapter, family, route?.nextHop);
    if (adapter !== undefined && own !== undefined) return describe(state, adapter, own);
  }
  const found = `none of ${state.adapters.length} adapters has one`;
  throw new WindowsError('notFound', `looked for the adapter with the default route: ${found}`);
}

function byName(state: NetworkState, name: string): NetworkAdapter {
  const wanted = name.toLowerCase();
  const tried = `looked for the network adapter ${quoteText(name)}`;
  const adapter = state.adapters.find((entry) =>
    [entry.name, entry.guid].some((known) => known.toLowerCase() === wanted),
  );
  if (adapter === undefined) {
    const known = state.adapters.map((entry) => quoteText(entry.name)).join(', ');
    throw new WindowsError('notFound', `${tried}: there are only ${known}`);
  }
  for (const family of FAMILIES) {
    const own = preferredAddress(
      adapter,
      family,
      defaultRoute(state, family, adapter.index)?.nextHop,
    );
    if (own !== undefined) return describe(state, adapter, own);
  }
  throw new WindowsError('notFound', `${tried}: it has no address`);
}

function byAddress(state: NetworkState, text: string): NetworkAdapter {
  const tried = `looked for the network adapter with the address ${quoteText(text)}`;
  const wanted = parseAddress(text);
  if (wanted === undefined) {
    throw new WindowsError('invalidArgument', `${tried}: wanted an IPv4 or IPv6 address`);
  }
  for (const adapter of state.adapters) {
    const own = adapter.addresses.find(({ bytes }) => Buffer.compare(bytes, wanted) === 0);
    if (own !== undefined) return describe(state, adapter, own);
  }
  throw new WindowsError('notFound', `${tried}: no adapter has it`);
}

/** The address that reaches the gateway, else one that is not only local to the link, else any. */
function preferredAddress(
  { addresses }: AdapterEntry,
  family: number,
  gateway: Uint8Array | undefined,
): IpNetwork | undefined {
  const own = addresses.filter(({ bytes }) => bytes.length === family);
  const wide = own.filter(({ bytes }) => !LINK_LOCAL.some((net) => overlap(alone(bytes), net)));
  const reaching = wide.find((net) => gateway !== undefined && overlap(alone(gateway), net));
  return reaching ?? wide[0] ?? own[0];
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

/** An address as the network that it alone is in. */
function alone(bytes: Uint8Array): IpNetwork {
  return { bytes, prefix: bytes.length * 8 };
}
