import { quoteText, type HnsNetwork } from '@wins/wins-program';

/** A network with the name by which people know it. */
export interface NamedHnsNetwork extends HnsNetwork {
  readonly name: string;
}

// What HNS answers is not more than what it keeps; this bounds what a broken answer costs.
const MAX_ITEMS = 10_000;

/** Reads the ids that HcnEnumerateNetworks gives. Whatever is no GUID is left out. */
export function decodeNetworkIds(json: string): readonly string[] {
  return items(JSON.parse(json)).filter(
    (id): id is string => typeof id === 'string' && guidBytes(id) !== undefined,
  );
}

/** Reads what HcnQueryNetworkProperties gives. What is missing is empty. */
export function decodeSecondVersion(json: string): NamedHnsNetwork {
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

/**
 * Reads what the first version of HNS answers to GET /networks/.
 *
 * @throws Error with what HNS said when it refused.
 */
export function decodeFirstVersion(json: string): readonly NamedHnsNetwork[] {
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

/** The 16 bytes of a GUID in memory; undefined for any other text. */
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

/** Where the default route leads, else where the first route does. */
function gatewayAmong(routes: readonly unknown[]): string {
  const isDefault = (route: unknown) => text(route, 'DestinationPrefix').endsWith('/0');
  return text(routes.find(isDefault) ?? routes[0], 'NextHop');
}

/** A field of an object in whatever case; undefined when there is none. */
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
