import { formatAddress, formatNetwork, parseAddress, parseNetwork } from '@wins/base';
import { addGatewayRoutes, removeGatewayRoutes } from './gateway-routes.js';
import { PROTOCOL, type ForwardRow, type RouteTable } from './routes.js';

const row = (cidr: string, hop: string, protocol: number = PROTOCOL.netmgmt): ForwardRow => {
  const destination = parseNetwork(cidr);
  const nextHop = parseAddress(hop);
  if (destination === undefined || nextHop === undefined) throw new Error(cidr);
  return { destination, nextHop, interfaceIndex: 4, metric: 5, protocol };
};

const spell = (route: ForwardRow) =>
  `${formatNetwork(route.destination)} via ${formatAddress(route.nextHop)}`;

/** With `lies`, reports success without a change. */
class MemoryTable implements RouteTable {
  readonly done: string[] = [];
  readonly #lies: boolean;

  constructor(
    readonly rows: ForwardRow[],
    lies = false,
  ) {
    this.#lies = lies;
  }

  read = () => [...this.rows];

  add = (route: ForwardRow) => {
    this.done.push(`+${spell(route)}`);
    if (!this.#lies) this.rows.push(route);
    return true;
  };

  remove = (route: ForwardRow) => {
    this.done.push(`-${spell(route)}`);
    if (!this.#lies) this.rows.splice(this.rows.indexOf(route), 1);
  };
}

const defaults = () => [row('0.0.0.0/0', '192.0.2.1'), row('::/0', 'fe80::1')];
const adapters = [
  { index: 4, name: 'e', guid: '', isUp: true, metrics: { ipv4: 0, ipv6: 0 }, addresses: [] },
];

it('leads each host through the gateway of its family, once', () => {
  const table = new MemoryTable(defaults());
  const addresses = ['8.8.8.8', '8.8.8.8/32', '2001:db8::1', '2001:DB8:0::1/128'];
  addGatewayRoutes(table, adapters, addresses);
  addGatewayRoutes(table, adapters, addresses);
  expect(table.done).toEqual(['+8.8.8.8/32 via 192.0.2.1', '+2001:db8::1/128 via fe80::1']);
  expect(table.rows[2]).toMatchObject({ interfaceIndex: 4, metric: 5, protocol: PROTOCOL.netmgmt });
});

it('leads networks too, and removes them, and nothing within or around them', () => {
  const around = [row('10.0.0.0/8', '192.0.2.9'), row('10.1.2.0/24', '192.0.2.9')];
  const table = new MemoryTable([...defaults(), ...around]);
  const networks = ['10.1.0.0/16', '2001:db8:1::/48'];
  addGatewayRoutes(table, adapters, networks);
  addGatewayRoutes(table, adapters, networks);
  removeGatewayRoutes(table, networks);
  expect(table.done).toEqual([
    '+10.1.0.0/16 via 192.0.2.1',
    '+2001:db8:1::/48 via fe80::1',
    '-10.1.0.0/16 via 192.0.2.1',
    '-2001:db8:1::/48 via fe80::1',
  ]);
});

it('removes what it added, also after the default route has changed', () => {
  const table = new MemoryTable(defaults());
  addGatewayRoutes(table, adapters, ['8.8.8.8', '2001:db8::1']);
  table.rows.splice(0, 2, row('0.0.0.0/0', '192.0.2.254'));
  removeGatewayRoutes(table, ['8.8.8.8/32', '2001:db8::1', '9.9.9.9']);
  removeGatewayRoutes(table, ['8.8.8.8']);
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
  removeGatewayRoutes(table, ['8.8.8.8']);
  expect(table.done).toEqual([]);
});

it('does not believe a system that says that it did it', () => {
  const added = new MemoryTable(defaults(), true);
  const refusal = (message: string) =>
    expect.objectContaining({
      code: 'notVerified',
      message: expect.stringContaining(message) as unknown,
    }) as Error;
  expect(() => addGatewayRoutes(added, adapters, ['8.8.8.8', '9.9.9.9'])).toThrow(
    refusal('cannot add routes to 8.8.8.8/32, 9.9.9.9/32'),
  );
  const removed = new MemoryTable([...defaults(), row('8.8.8.8/32', '192.0.2.1')], true);
  expect(() => removeGatewayRoutes(removed, ['8.8.8.8'])).toThrow(
    refusal('are still in the routing'),
  );
});

it.each([
  '',
  'example.com',
  '8.8.8.8/24',
  '2001:db8::1/64',
  '0.0.0.0/0',
  '::/0',
  '169.254.169.0/24',
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
  const refused = expect.objectContaining({ code: 'invalidArgument' }) as Error;
  expect(() => addGatewayRoutes(table, adapters, ['8.8.8.8', address])).toThrow(refused);
  expect(() => removeGatewayRoutes(table, ['8.8.8.8', address])).toThrow(refused);
  expect(table.done).toEqual([]);
});

it('refuses more than 256 addresses at once', () => {
  const many = Array.from({ length: 257 }, () => '8.8.8.8');
  expect(() => addGatewayRoutes(new MemoryTable(defaults()), adapters, many)).toThrow('found 257');
});

it('adds nothing when one of the addresses has no gateway', () => {
  const table = new MemoryTable([row('0.0.0.0/0', '192.0.2.1'), row('::/0', '::')]);
  expect(() => addGatewayRoutes(table, adapters, ['8.8.8.8', '2001:db8::1'])).toThrow(
    'there is no IPv6 default route through a gateway',
  );
  expect(table.done).toEqual([]);
});
