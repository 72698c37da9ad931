import {
  quoteText,
  escapeJson,
  messageOf,
  overlap,
  parseNetwork,
  type HnsNetwork,
  type NetworkSelector,
} from '@wins/base';
import { WindowsError } from '../windows-error.js';
import type { HnsCalls } from './hns-calls.js';

/** Part of each request and query of HNS version 2. */
export const SECOND_VERSION = { SchemaVersion: { Major: 2, Minor: 0 } };
const QUERY = JSON.stringify(SECOND_VERSION);

/**
 * Finds a network by its name or by an address in one of its subnets. Uses HNS version 1 where version 2 is missing
 * or fails.
 *
 * @throws WindowsError `notFound`; `invalidArgument` for a text that is not an address; `unavailable` on a host
 * without HNS.
 */
export async function findHnsNetwork(which: NetworkSelector, calls: HnsCalls): Promise<HnsNetwork> {
  const isMeant = matcher(which);
  const { id, type, managementIp, subnets } = choose(await listNetworks(calls), which, isMeant);
  return { id, type, managementIp, subnets };
}

/** @throws WindowsError `unavailable` on a host without HNS. */
export async function listNetworks(calls: HnsCalls): Promise<readonly NamedHnsNetwork[]> {
  let second: unknown;
  try {
    return await listBySecondVersion(calls);
  } catch (error) {
    second = error;
  }
  try {
    return decodeFirstVersion(await calls.callFirstVersion('GET', '/networks/'));
  } catch (first) {
    // Report the error of version 2, which is more specific, unless version 2 is missing.
    const cause = isUnavailable(second) ? first : second;
    if (cause instanceof WindowsError && !isUnavailable(cause)) throw cause;
    const tried = 'cannot list the networks of HNS';
    if (isUnavailable(cause)) {
      const found = 'the Host Networking Service is missing';
      const next = 'Install the Windows feature Containers';
      throw new WindowsError('unavailable', `${tried}: ${found}. ${next}`, { cause });
    }
    const found = messageOf(cause);
    throw new WindowsError('unknown', `${tried}: ${found}`, { cause });
  }
}

async function listBySecondVersion(calls: HnsCalls): Promise<readonly NamedHnsNetwork[]> {
  const networks: NamedHnsNetwork[] = [];
  for (const id of decodeNetworkIds(await calls.enumerateNetworks(QUERY))) {
    try {
      const bytes = guidBytes(id);
      if (bytes === undefined) continue;
      networks.push(decodeSecondVersion(await calls.queryNetwork(bytes, QUERY)));
    } catch (error) {
      // `notFound` means that the network was deleted meanwhile.
      if (!(error instanceof WindowsError && error.code === 'notFound')) throw error;
    }
  }
  return networks;
}

/** @throws WindowsError `invalidArgument`. */
function matcher(which: NetworkSelector): (network: NamedHnsNetwork) => boolean {
  if ('name' in which) return ({ name }) => name === which.name;
  const address = which.address.includes('/') ? undefined : parseNetwork(which.address);
  if (address === undefined) {
    const tried = `cannot find the HNS network of the address ${quoteText(which.address)}`;
    throw new WindowsError('invalidArgument', `${tried}: it is not an IPv4 or IPv6 address`);
  }
  return ({ subnets }) =>
    subnets.some(({ addressCidr }) => {
      const subnet = parseNetwork(addressCidr);
      return subnet !== undefined && overlap(address, subnet);
    });
}

function choose(
  networks: readonly NamedHnsNetwork[],
  which: NetworkSelector,
  isMeant: (network: NamedHnsNetwork) => boolean,
): NamedHnsNetwork {
  const network = networks.find(isMeant);
  if (network !== undefined) return network;
  const known = networks.map(({ name }) => quoteText(name)).join(', ');
  const found = known === '' ? 'there are no networks' : `there are only ${known}`;
  const tried = `cannot find the HNS network ${escapeJson(JSON.stringify(which))}`;
  throw new WindowsError('notFound', `${tried}: ${found}`);
}

function isUnavailable(error: unknown): boolean {
  return error instanceof WindowsError && error.code === 'unavailable';
}

/** An HNS network with its name. */
export interface NamedHnsNetwork extends HnsNetwork {
  readonly name: string;
}

// Limit on the cost of a malformed answer, far above the number of real networks.
const MAX_ITEMS = 10_000;

/** Skips values that are not GUIDs. */
export function decodeNetworkIds(json: string): readonly string[] {
  return items(JSON.parse(json)).filter(
    (id): id is string => typeof id === 'string' && guidBytes(id) !== undefined,
  );
}

/** Missing fields are empty. */
function decodeSecondVersion(json: string): NamedHnsNetwork {
  const network: unknown = JSON.parse(json);
  const provider = items(field(network, 'Policies')).find(
    (policy) => text(policy, 'Type').toLowerCase() === 'provideraddress',
  );
  return {
    id: text(network, 'ID'),
    name: text(network, 'Name'),
    type: text(network, 'Type'),
    managementIp: text(field(provider, 'Settings'), 'ProviderAddress'),
    subnets: items(field(network, 'Ipams'))
      .flatMap((ipam) => items(field(ipam, 'Subnets')))
      .slice(0, MAX_ITEMS)
      .map((subnet) => ({
        addressCidr: text(subnet, 'IpAddressPrefix'),
        gatewayAddress: gatewayAmong(items(field(subnet, 'Routes'))),
      })),
  };
}

/** Parses the answer of HNS version 1 to GET /networks/. @throws Error with the message of HNS. */
function decodeFirstVersion(json: string): readonly NamedHnsNetwork[] {
  const answer: unknown = JSON.parse(json);
  if (field(answer, 'Success') !== true) {
    throw new Error(`HNS refused: ${quoteText(text(answer, 'Error'), { maxLength: 500 })}`);
  }
  return items(field(answer, 'Output')).map((network) => ({
    id: text(network, 'ID'),
    name: text(network, 'Name'),
    type: text(network, 'Type'),
    managementIp: text(network, 'ManagementIP'),
    subnets: items(field(network, 'Subnets')).map((subnet) => ({
      addressCidr: text(subnet, 'AddressPrefix'),
      gatewayAddress: text(subnet, 'GatewayAddress'),
    })),
  }));
}

/** Returns a GUID as its 16 bytes in memory; undefined for any other text. */
export function guidBytes(guid: string): Buffer | undefined {
  const pattern = /^\{?([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})\}?$/i;
  const [whole, ...parts] = pattern.exec(guid) ?? [];
  if (whole === undefined) return undefined;
  const bytes = Buffer.from(parts.join(''), 'hex');
  // The first three fields are numbers, with the least significant byte first.
  bytes.subarray(0, 4).reverse();
  bytes.subarray(4, 6).reverse();
  bytes.subarray(6, 8).reverse();
  return bytes;
}

/** Prefers the gateway of the default route. */
function gatewayAmong(routes: readonly unknown[]): string {
  const isDefault = (route: unknown) => text(route, 'DestinationPrefix').endsWith('/0');
  return text(routes.find(isDefault) ?? routes[0], 'NextHop');
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const wanted = name.toLowerCase();
  return Object.entries(value).find(([key]) => key.toLowerCase() === wanted)?.[1];
}

function text(value: unknown, name: string): string {
  const found = field(value, name);
  return typeof found === 'string' ? found : '';
}

function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value.slice(0, MAX_ITEMS) as unknown[]) : [];
}
