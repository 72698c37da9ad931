import { formatIpAddress, formatIpNetwork, parseIpAddress, parseIpNetwork } from './ip-address.js';
import { PROTOCOL, type ForwardRow } from './ip-forward-row.js';
import { addHostRoutes, removeHostRoutes } from './routes-host.js';
import type { RouteTable } from './routes.js';

const row = (cidr: string, hop: string, protocol: number = PROTOCOL.netmgmt): ForwardRow => {
  const destination = parseIpNetwork(cidr);
  const nextHop = parseIpAddress(hop);
  if (destination === undefined || nextHop === undefined) throw new Error(cidr);
  return { destination, nextHop, interfaceIndex: 4, metric: 5, protocol };
};

const spell = (route: ForwardRow) =>
  `${formatIpNetwork(route.destination)} via ${formatIpAddress(route.nextHop)}`;

/** A routing table in memory that remembers what was done to it; a lying one only says that it did it. */
class MemoryTable implements RouteTable {
  readonly done: string[] = [];
  constructor(
    readonly rows: ForwardRow[],
    private readonly lies = false,
  ) {}

  read = () => [...this.rows];

  add = (route: ForwardRow) => {
    this.done.push(`+${spell(route)}`);
    if (!this.lies) this.rows.push(route);
  };

  remove = (route: ForwardRow) => {
    this.done.push(`-${spell(route)}`);
    if (!this.lies) this.rows.splice(this.rows.indexOf(route), 1);
  };
}

const defaults = () => [row('0.0.0.0/0', '192.0.2.1'), row('::/0', 'fe80::1')];
const adapters = [
  { index: 4, name: 'e', guid: '', isUp: true, metrics: { ipv4: 0, ipv6: 0 }, addresses: [] },
];

it('leads each host through the gateway of its family, once', () => {
  const table = new MemoryTable(defaults());
  const addresses = ['8.8.8.8', '8.8.8.8/32', '2001:db8::1', '2001:DB8:0::1/128'];
  addHostRoutes(table, adapters, addresses);
  addHostRoutes(table, adapters, addresses);
  expect(table.done).toEqual(['+8.8.8.8/32 via 192.0.2.1', '+2001:db8::1/128 via fe80::1']);
  expect(table.rows[2]).toMatchObject({ interfaceIndex: 4, metric: 5, protocol: PROTOCOL.netmgmt });
});

it('removes what it added, also after the default route has changed', () => {
  const table = new MemoryTable(defaults());
  addHostRoutes(table, adapters, ['8.8.8.8', '2001:db8::1']);
  table.rows.splice(0, 2, row('0.0.0.0/0', '192.0.2.254'));
  removeHostRoutes(table, ['8.8.8.8/32', '2001:db8::1', '9.9.9.9']);
  removeHostRoutes(table, ['8.8.8.8']);
  expect(table.rows.map(spell)).toEqual(['0.0.0.0/0 via 192.0.2.254']);
});

it("leaves networks and the host's own addresses alone when it removes", () => {
  const rows = [
    row('8.8.8.8/32', '0.0.0.0', PROTOCOL.local),
    row('8.8.8.8/24', '192.0.2.1'),
    row('8.8.8.8/32', '0.0.0.0'),
    row('8.8.8.8/32', '192.0.2.1', PROTOCOL.local),
  ];
  const table = new MemoryTable(rows);
  removeHostRoutes(table, ['8.8.8.8']);
  expect(table.done).toEqual([]);
});

it('does not believe a system that says that it did it', () => {
  const added = new MemoryTable(defaults(), true);
  const refusal = (message: string) =>
    expect.objectContaining({
      code: 'not-verified',
      message: expect.stringContaining(message) as unknown,
    }) as Error;
  expect(() => addHostRoutes(added, adapters, ['8.8.8.8', '9.9.9.9'])).toThrow(
    refusal('added routes to 8.8.8.8, 9.9.9.9'),
  );
  const removed = new MemoryTable([...defaults(), row('8.8.8.8/32', '192.0.2.1')], true);
  expect(() => removeHostRoutes(removed, ['8.8.8.8'])).toThrow(refusal('are still in the routing'));
});

it.each([
  '',
  'example.com',
  '8.8.8.0/24',
  '2001:db8::/64',
  '0.0.0.0',
  '::',
  '127.0.0.1',
  '::1',
  '224.0.0.1',
  'ff02::1',
  '255.255.255.255',
  'fe80::1%4',
  '8.8.8.8 9.9.9.9',
])('refuses a route to %j before it changes anything', (address) => {
  const table = new MemoryTable(defaults());
  const refused = expect.objectContaining({ code: 'invalid-argument' }) as Error;
  expect(() => addHostRoutes(table, adapters, ['8.8.8.8', address])).toThrow(refused);
  expect(() => removeHostRoutes(table, ['8.8.8.8', address])).toThrow(refused);
  expect(table.done).toEqual([]);
});

it('refuses more than 1,024 addresses at once', () => {
  const many = Array.from({ length: 1025 }, () => '8.8.8.8');
  expect(() => addHostRoutes(new MemoryTable(defaults()), adapters, many)).toThrow('found 1025');
});

it('adds nothing when one of the addresses has no gateway', () => {
  const table = new MemoryTable([row('0.0.0.0/0', '192.0.2.1'), row('::/0', '::')]);
  expect(() => addHostRoutes(table, adapters, ['8.8.8.8', '2001:db8::1'])).toThrow(
    'there is no IPv6 default route through a gateway',
  );
  expect(table.done).toEqual([]);
});
