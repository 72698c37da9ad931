import { parseAddress, parseNetwork } from '@wins/base';
import { type AdapterEntry, selectAdapter } from './network-adapters.js';
import { PROTOCOL, type ForwardRow } from './routes.js';

const adapter = (
  index: number,
  name: string,
  addresses: readonly string[],
  overrides: Partial<AdapterEntry> = {},
): AdapterEntry => ({
  index,
  name,
  guid: `{0000000${index}-AAAA}`,
  isUp: true,
  metrics: { ipv4: 10, ipv6: 10 },
  addresses: addresses.flatMap((text) => parseNetwork(text) ?? []),
  ...overrides,
});

const route = (cidr: string, hop: string, interfaceIndex: number, metric = 0): ForwardRow => {
  const destination = parseNetwork(cidr);
  const nextHop = parseAddress(hop);
  if (destination === undefined || nextHop === undefined) throw new Error(cidr);
  return { destination, nextHop, interfaceIndex, metric, protocol: PROTOCOL.netmgmt };
};

const adapters = [
  adapter(1, 'Loopback Pseudo-Interface 1', ['127.0.0.1/8', '::1/128']),
  adapter(4, 'vEthernet (Ethernet)', [
    'fe80::4/64',
    '2001:db8::4/64',
    '169.254.3.4/16',
    '198.51.100.4/24',
    '192.0.2.2/24',
  ]),
  adapter(7, 'Storage', ['203.0.113.7/24']),
  adapter(9, 'empty', []),
];
const rows = [
  route('0.0.0.0/0', '192.0.2.1', 4),
  route('::/0', 'fe80::1', 4),
  route('203.0.113.0/24', '0.0.0.0', 7),
];
const state = { adapters, rows, hostName: 'node-1' };
const storage = {
  interfaceIndex: '7',
  gatewayAddress: '',
  subnetCidr: '203.0.113.0/24',
  hostName: 'node-1',
  addressCidr: '203.0.113.7/32',
};
const ethernet = {
  interfaceIndex: '4',
  gatewayAddress: '192.0.2.1',
  subnetCidr: '192.0.2.0/24',
  hostName: 'node-1',
  addressCidr: '192.0.2.2/32',
};

it('takes the adapter with the default route, and its address that reaches the gateway', () => {
  expect(selectAdapter(state)).toEqual(ethernet);
});

it('takes the cheapest default route, with the metric of its adapter', () => {
  const cheap = route('0.0.0.0/0', '203.0.113.1', 7, 5);
  const pick = (ipv4: number) =>
    selectAdapter({
      ...state,
      adapters: [
        ...adapters.slice(0, 2),
        adapter(7, 'Storage', ['203.0.113.7/24'], { metrics: { ipv4, ipv6: 0 } }),
      ],
      rows: [...rows, cheap],
    }).interfaceIndex;
  expect(pick(4)).toBe('7');
  expect(pick(6)).toBe('4');
});

it('passes over the default route of an adapter that is down', () => {
  const down = adapter(4, 'down', ['192.0.2.2/24'], { isUp: false });
  const both = [...rows, route('0.0.0.0/0', '203.0.113.1', 7, 500)];
  const found = selectAdapter({ ...state, adapters: [down, ...adapters.slice(2)], rows: both });
  expect(found).toEqual({ ...storage, gatewayAddress: '203.0.113.1' });
});

it('takes the default route of IPv6 on a host without one of IPv4', () => {
  expect(selectAdapter({ ...state, rows: rows.slice(1) })).toEqual({
    interfaceIndex: '4',
    gatewayAddress: 'fe80::1',
    subnetCidr: '2001:db8::/64',
    hostName: 'node-1',
    addressCidr: '2001:db8::4/128',
  });
});

it('has no gateway to name when the default route needs none', () => {
  const onLink = [route('0.0.0.0/0', '0.0.0.0', 7)];
  expect(selectAdapter({ ...state, rows: onLink })).toEqual(storage);
});

it.each(['vEthernet (Ethernet)', 'VETHERNET (ethernet)', '{00000004-aaaa}'])(
  'finds an adapter by the name %s',
  (name) => expect(selectAdapter(state, { name })).toEqual(ethernet),
);

it.each([
  ['203.0.113.7', storage],
  [
    '2001:DB8:0::4',
    {
      ...ethernet,
      gatewayAddress: 'fe80::1',
      subnetCidr: '2001:db8::/64',
      addressCidr: '2001:db8::4/128',
    },
  ],
  ['198.51.100.4', { ...ethernet, subnetCidr: '198.51.100.0/24', addressCidr: '198.51.100.4/32' }],
])('finds an adapter by its address %s', (address, found) => {
  expect(selectAdapter(state, { address })).toEqual(found);
});

it.each([
  [{ name: 'eth0' }, 'notFound', '"eth0": there are only "Loopback Pseudo-Interface 1", "vEth'],
  [{ name: '' }, 'notFound', '"": there are only'],
  [{ name: 'empty' }, 'notFound', 'has no address'],
  [{ address: '192.0.2.3' }, 'notFound', '"192.0.2.3": no adapter has it'],
  [{ address: 'eth0' }, 'invalidArgument', 'it is not an IPv4 or IPv6 address'],
])('says what is wrong with %j', (which, code, message) => {
  expect(() => selectAdapter(state, which)).toThrow(
    expect.objectContaining({
      code,
      message: expect.stringContaining(message) as unknown,
    }) as Error,
  );
});

it('says that there is no default route', () => {
  expect(() => selectAdapter({ ...state, rows: rows.slice(2) })).toThrow(
    'none of 4 adapters has one',
  );
});
