import { parseAddress, parseNetwork } from '@wins/base';
import { MIB_IPFORWARD_ROW2 } from '../win32/structures.js';
import { PROTOCOL, readRow, visibleRoutes, writeRow, type ForwardRow } from './routes.js';

const row = (cidr: string, hop: string, overrides: Partial<ForwardRow> = {}): ForwardRow => {
  const destination = parseNetwork(cidr);
  const nextHop = parseAddress(hop);
  if (destination === undefined || nextHop === undefined) throw new Error(cidr);
  return {
    destination,
    nextHop,
    interfaceIndex: 4,
    metric: 0,
    protocol: PROTOCOL.local,
    ...overrides,
  };
};

it.each([
  row('8.8.8.8/32', '192.0.2.1', { metric: 256, protocol: PROTOCOL.netmgmt }),
  row('2001:db8::1/128', 'fe80::1', { interfaceIndex: 0xfffffffe }),
])('reads the row that it wrote: %#', (route) => {
  const bytes = Buffer.alloc(MIB_IPFORWARD_ROW2.sizeBytes, 0xff);
  writeRow(bytes, route);
  expect(readRow(bytes)).toEqual(route);
});

it('writes every field where the system expects it, and leaves the defaults', () => {
  const bytes = Buffer.alloc(MIB_IPFORWARD_ROW2.sizeBytes, 0xee);
  const route = row('8.8.8.8/32', '192.0.2.1', { metric: 5, protocol: PROTOCOL.netmgmt });
  writeRow(bytes, route);
  const hex = [
    'eeeeeeeeeeeeeeee', // LUID, which takes precedence over the index
    '04000000',
    '0200000008080808' + '00'.repeat(20), // destination
    '20eeeeee',
    '02000000c0000201' + '00'.repeat(20), // next hop
    'eeeeeeee'.repeat(3), // site prefix, lifetimes
    '05000000',
    '03000000',
    'eeeeeeee'.repeat(3), // flags, age, origin
  ];
  expect(bytes.toString('hex')).toBe(hex.join(''));
});

it.each([
  ['10.1.0.0/16', '192.0.2.1', '020000000a010000' + '00'.repeat(20), '10'],
  ['2001:db8:1::/48', 'fe80::1', '1700000000000000' + '20010db80001' + '00'.repeat(14), '30'],
])('writes the network %s with its prefix length', (cidr, hop, destination, prefix) => {
  const bytes = Buffer.alloc(MIB_IPFORWARD_ROW2.sizeBytes);
  writeRow(bytes, row(cidr, hop));
  expect(bytes.subarray(12, 40).toString('hex')).toBe(destination);
  expect(bytes.subarray(40, 41).toString('hex')).toBe(prefix);
  expect(readRow(bytes)).toEqual(row(cidr, hop));
});

it('passes over a row of another family', () => {
  expect(readRow(Buffer.alloc(MIB_IPFORWARD_ROW2.sizeBytes))).toBeUndefined();
});

it('shows what leads somewhere, and hides what the system keeps for itself', () => {
  const rows = [
    row('0.0.0.0/0', '192.0.2.1', { metric: 7, protocol: PROTOCOL.netmgmt }),
    row('192.0.2.0/24', '0.0.0.0'),
    row('192.0.2.2/32', '0.0.0.0'),
    row('192.0.2.255/32', '0.0.0.0'),
    row('8.8.8.8/32', '192.0.2.1', { protocol: PROTOCOL.netmgmt }),
    row('198.51.100.9/32', '0.0.0.0', { protocol: PROTOCOL.netmgmt }),
    row('127.0.0.0/8', '0.0.0.0'),
    row('224.0.0.0/4', '0.0.0.0'),
    row('255.255.255.255/32', '0.0.0.0'),
    row('::/0', 'fe80::1', { protocol: PROTOCOL.netmgmt }),
    row('::1/128', '::'),
    row('fe80::/64', '::'),
    row('fe80::4/128', '::'),
    row('ff00::/8', '::'),
  ];
  expect(visibleRoutes(rows)).toEqual([
    { destinationCidr: '0.0.0.0/0', gateway: '192.0.2.1', interfaceIndex: 4, metric: 7 },
    { destinationCidr: '192.0.2.0/24', gateway: '', interfaceIndex: 4, metric: 0 },
    { destinationCidr: '8.8.8.8/32', gateway: '192.0.2.1', interfaceIndex: 4, metric: 0 },
    { destinationCidr: '198.51.100.9/32', gateway: '', interfaceIndex: 4, metric: 0 },
    { destinationCidr: '::/0', gateway: 'fe80::1', interfaceIndex: 4, metric: 0 },
    { destinationCidr: 'fe80::/64', gateway: '', interfaceIndex: 4, metric: 0 },
  ]);
});
