// This file is longer than most, because a third of it is one table: the hosts of clouds, and what `ip route add` accepts there.
import { mayMakeNetwork } from '../testing/network-namespace.js';
import { wherePossible } from '../testing/where-possible.js';
import { HostInNetwork, type NetworkStatus } from './host-in-network.js';

/** The tests change routes, so they run in a private network. */
const inOwnNetwork = wherePossible(
  describe,
  mayMakeNetwork(),
  'which gateways the daemon reaches, since only root may make a network for them',
);

const cable = (name: string) => `ip link add ${name} type veth peer name ${name}-peer
ip link set ${name}-peer up
ip link set ${name} up`;
const CABLE = cable('w0');
const NO_DEFAULT = 'ip route del default';
/** The table of a Hetzner server in a private network, as its DHCP client makes it. */
const HETZNER = `${CABLE}
ip addr add 10.0.0.2/32 dev w0
ip route add 10.0.0.1 dev w0 proto dhcp scope link metric 1024
ip route add 10.0.0.0/16 via 10.0.0.1 dev w0 proto dhcp metric 1024`;
const ONLY_ADDRESS = `${NO_DEFAULT}
ip addr flush dev wins0
ip addr add 10.128.0.5/32 dev wins0`;
const METADATA = '169.254.169.254';

/** A gateway, with or without the name of an interface, and where its route leads. */
type Way = readonly [gateway: string, leads: string, named?: string];

/** `waiting`: as for `ip route add`. */
const SHAPES: readonly (readonly [string, string, readonly Way[]])[] = [
  [
    'of Hetzner, where the own network is one address',
    HETZNER,
    [
      ['10.0.0.1', 'w0'],
      ['10.0.0.1', 'w0', 'w0'],
      ['192.0.2.9', 'wins0'],
      ['10.0.0.3', 'waiting'],
      ['203.0.113.9', 'waiting'],
    ],
  ],
  [
    'of GCE, with one address and a route to the gateway',
    `${ONLY_ADDRESS}
ip route add 10.128.0.1 dev wins0 proto dhcp scope link src 10.128.0.5 metric 100
ip route add default via 10.128.0.1 dev wins0 proto dhcp src 10.128.0.5 metric 100`,
    [
      ['10.128.0.1', 'wins0'],
      ['10.128.0.9', 'waiting'],
    ],
  ],
  [
    'with a point-to-point link as its default',
    `${cable('ppp0')}
${NO_DEFAULT}
ip addr add 10.64.0.2 peer 10.64.0.1 dev ppp0
ip route add default dev ppp0 scope link`,
    [
      ['10.64.0.1', 'ppp0'],
      ['203.0.113.9', 'ppp0'],
      ['192.0.2.9', 'wins0'],
      ['203.0.113.9', 'ppp0', 'ppp0'],
    ],
  ],
  [
    'with a peer network that is not the one of its address',
    `${CABLE}
ip addr add 10.64.0.2 peer 10.65.0.1/24 dev w0`,
    [
      ['10.65.0.9', 'w0'],
      ['10.64.0.9', 'waiting'],
    ],
  ],
  [
    'with two interfaces of one address each, and a metric between them',
    `${CABLE}
${cable('w2')}
ip addr add 10.0.0.2/32 dev w0
ip addr add 10.0.1.2/32 dev w2
ip route add 10.0.0.1 dev w0 scope link metric 200
ip route add 10.0.0.1 dev w2 scope link metric 100`,
    [
      ['10.0.0.1', 'w2'],
      ['10.0.0.1', 'w0', 'w0'],
    ],
  ],
  [
    'with two interfaces in one network',
    `${CABLE}
${cable('w2')}
ip addr add 10.0.0.3/24 dev w2
ip addr add 10.0.0.2/24 dev w0`,
    [
      ['10.0.0.9', 'w2'],
      ['10.0.0.9', 'w0', 'w0'],
    ],
  ],
  [
    'with longer and shorter networks',
    `${CABLE}
ip addr add 10.0.0.2/16 dev w0
ip route add 10.0.7.0/24 dev wins0 scope link
ip route add 10.0.8.0/24 via 192.0.2.1
ip route add blackhole 10.0.9.0/24`,
    [
      ['10.0.6.1', 'w0'],
      ['10.0.7.1', 'wins0'],
      ['10.0.7.1', 'w0', 'w0'],
      ['10.0.8.1', 'w0'],
      ['10.0.9.1', 'w0'],
    ],
  ],
  [
    'with addresses to which no route leads',
    `${CABLE}
ip addr add 10.0.0.2/24 dev w0 noprefixroute
ip route add 10.5.0.0/24 dev w0 proto dhcp scope link metric 1024
ip route add 10.6.0.0/24 dev w0 scope global
ip route add 10.7.0.0/24 nexthop dev w0 nexthop dev wins0
ip route add 10.8.0.0/24 via inet6 fe80::1 dev w0`,
    [
      ['10.0.0.9', 'waiting'],
      ['10.5.0.9', 'w0'],
      ['10.6.0.9', 'waiting'],
      ['10.7.0.9', 'waiting'],
      ['10.8.0.9', 'waiting'],
    ],
  ],
  ...[1, 0].map((shown): readonly [string, string, readonly Way[]] => [
    `with nexthop objects, which the kernel ${shown === 1 ? 'shows' : 'only numbers'}`,
    `${CABLE}
sysctl -qw net.ipv4.nexthop_compat_mode=${shown}
ip addr add 10.0.0.2/32 dev w0
ip nexthop add id 5 dev w0
ip route add 10.0.0.1 nhid 5 scope link
ip route add 10.0.7.1 nhid 5`,
    [
      ['10.0.0.1', 'w0'],
      ['10.0.7.1', 'waiting'],
    ],
  ]),
];

const DEFAULTS: readonly (readonly [string, string, string])[] = [
  [
    'has several, by their metrics',
    `ip route add default via 192.0.2.9 dev wins0 metric 100
ip route add default via 192.0.2.8 dev wins0 metric 50
${NO_DEFAULT} metric 0`,
    'via 192.0.2.8 dev wins0',
  ],
  ['has metric 0', 'ip route add default via 192.0.2.9 metric 100', 'via 192.0.2.1 dev wins0'],
  [
    'has its gateway outside of every network',
    `${ONLY_ADDRESS}
ip route add default via 10.128.0.1 dev wins0 onlink`,
    'via 10.128.0.1 dev wins0 onlink',
  ],
  [
    'lost the route to its gateway',
    `${ONLY_ADDRESS}
ip route add 10.128.0.1 dev wins0 scope link
ip route add default via 10.128.0.1
ip route del 10.128.0.1`,
    'via 10.128.0.1 dev wins0 onlink',
  ],
  [
    'has no gateway',
    `${NO_DEFAULT}
ip route add default dev wins0 scope link`,
    'dev wins0 scope link',
  ],
  [
    'has a gateway beside a tunnel without one',
    `${CABLE}
ip addr add 10.8.0.2/32 dev w0
ip route add default via 192.0.2.9 dev wins0 metric 100
${NO_DEFAULT} via 192.0.2.1
ip route add default dev w0 scope link`,
    'via 192.0.2.9 dev wins0',
  ],
  [
    'has several next hops, the first of IPv6',
    `${NO_DEFAULT}
ip -4 route add default nexthop via inet6 fe80::1 dev wins0 nexthop via 192.0.2.9 dev wins0`,
    'via 192.0.2.9 dev wins0',
  ],
  [
    'is a group of nexthop objects that the kernel only numbers',
    `${NO_DEFAULT}
sysctl -qw net.ipv4.nexthop_compat_mode=0
ip nexthop add id 6 via 192.0.2.9 dev wins0
ip nexthop add id 7 via 192.0.2.8 dev wins0
ip nexthop add id 8 group 6/7
ip route add default nhid 8`,
    'via 192.0.2.9 dev wins0',
  ],
  [
    'leads to a next hop of IPv6',
    `${NO_DEFAULT}
ip -4 route add default via inet6 fe80::1 dev wins0`,
    'waiting',
  ],
];

const stateOf = ({ routes }: NetworkStatus, destination: string) =>
  routes.find((route) => route.destination === destination)?.state;

/** Where a route of this destination leads, without the marks of its maker. */
function leads(host: HostInNetwork, destination: string): string {
  const line = host.ip(`-4 route show ${destination}`).replaceAll(/ +/g, ' ');
  return line
    .replace(/^\S+ /, '')
    .replace(/ ?proto 199/, '')
    .replace(/ metric \d+/, '')
    .trim();
}

/** Adds a route in the way of an administrator, looks where it leads, and removes it. */
async function verdictOfIp(host: HostInNetwork, [gateway, , named]: Way): Promise<string> {
  const through = named === undefined ? [] : ['dev', named];
  const adding = host.run('/sbin/ip', 'route', 'add', '10.98.0.0/24', 'via', gateway, ...through);
  if ((await adding.outcome).code !== 0) return 'waiting';
  const [, name = ''] = / dev (\S+)/.exec(host.ip('-4 route show 10.98.0.0/24')) ?? [];
  host.ip('route del 10.98.0.0/24');
  return name;
}

async function applied(host: HostInNetwork, hostNetwork: object): Promise<NetworkStatus> {
  host.configure(hostNetwork);
  expect((await host.wins('srv', 'config', 'reload')).code).toBe(0);
  const status = await host.network('apply');
  expect(status).toMatchObject({ state: 'settled', problems: [] });
  return status;
}

inOwnNetwork('the gateways of a host', () => {
  it.each(SHAPES)('%s are those that `ip route add` takes', async (_what, setup, ways) => {
    await using host = await HostInNetwork.start(undefined, setup);
    const byIp: string[] = [];
    for (const way of ways) byIp.push(await verdictOfIp(host, way));
    expect(byIp).toEqual(ways.map(([, expected]) => expected));
    const routes = ways.map(([gateway, , named], index) => ({
      destination: `10.99.${index}.0/24`,
      gateway,
      ...(named !== undefined && { interface: named }),
    }));
    const status = await applied(host, { routes });
    const found = routes.map(({ destination }) => {
      const state = stateOf(status, destination) ?? '';
      const [, name = 'nowhere'] = / dev (\S+)/.exec(leads(host, destination)) ?? [];
      return state === 'applied' ? name : state;
    });
    expect(found).toEqual(byIp);
  });

  it.each(DEFAULTS)('keep the metadata of a cloud where the default route %s', async (...shape) => {
    const [, setup, expected] = shape;
    await using host = await HostInNetwork.start(undefined, setup);
    const status = await applied(host, { keep: ['gce'] });
    const state = stateOf(status, `${METADATA}/32`);
    expect(state === 'applied' ? leads(host, METADATA) : state).toBe(expected);
    if (state === 'applied') await host.network('teardown');
    expect(leads(host, METADATA)).toBe('');
  });

  it('are reached as a named interface says, also without a route or an address of IPv4', async () => {
    const setup = `${CABLE}
${cable('w2')}
ip addr add 10.0.0.2/32 dev w0`;
    await using host = await HostInNetwork.start(undefined, setup);
    const routes = [
      { destination: '10.99.0.0/24', gateway: '10.0.0.1', interface: 'w0' },
      { destination: '10.99.1.0/24', gateway: '10.9.9.9', interface: 'w2' },
      { destination: '10.99.2.0/24', gateway: '192.0.2.9', interface: 'wins0' },
      { destination: '10.99.3.0/24', gateway: '192.0.2.2', interface: 'w0' },
      { destination: '10.99.4.0/24', gateway: '127.0.0.9', interface: 'w0' },
      { destination: '10.99.5.0/24', gateway: '10.9.9.9', interface: 'lo' },
    ];
    const status = await applied(host, { routes });
    expect(routes.map(({ destination }) => stateOf(status, destination))).toEqual([
      'applied',
      'applied',
      'applied',
      'rejected',
      'rejected',
      'rejected',
    ]);
    expect(routes.slice(0, 3).map(({ destination }) => leads(host, destination))).toEqual([
      'via 10.0.0.1 dev w0 onlink',
      'via 10.9.9.9 dev w2 onlink',
      'via 192.0.2.9 dev wins0',
    ]);
    // The route to the gateway comes later: nothing changes. Without routes, all of them are removed.
    host.ip('route add 10.0.0.1 dev w0 scope link');
    expect(await host.network('plan')).toMatchObject({ steps: [] });
    await host.network('teardown');
    expect(host.routes().filter((line) => line.startsWith('10.99.'))).toEqual([]);
  });

  it('are looked up again when the route to them goes and comes', async () => {
    await using host = await HostInNetwork.start(undefined, HETZNER);
    const destination = '10.99.0.0/24';
    const routes = [{ destination, gateway: '10.0.0.1' }];
    await applied(host, { routes });
    const isChange = ({ msg }: { readonly msg: string }) =>
      msg === 'routes of the host are changed';
    // The kernel removes all routes of an interface that goes down, and the daemon's with them.
    host.ip('link set w0 down');
    host.ip('link set w0 up');
    expect(stateOf(await host.network('apply'), destination)).toBe('waiting');
    await host.logs(isChange, () => host.ip('route add 10.0.0.1 dev w0 scope link'));
    expect(stateOf(await host.network('apply'), destination)).toBe('applied');
    expect(leads(host, destination)).toBe('via 10.0.0.1 dev w0');
    // A route that exists stays, as the kernel keeps it.
    host.ip('route del 10.0.0.1 dev w0');
    expect(stateOf(await host.network('apply'), destination)).toBe('applied');
    await host.logs(isChange, () => host.ip('route add 10.0.0.1 dev wins0 scope link'));
    // The change in the log may be an earlier one.
    expect(stateOf(await host.network('apply'), destination)).toBe('applied');
    expect(leads(host, destination)).toBe('via 10.0.0.1 dev wins0');
  });

  it('are never containers or strangers that a peer names as its address', async () => {
    const setup = `${CABLE}
${cable('w2')}
ip addr add 10.9.0.1/32 dev w0
ip route add 10.9.0.5 dev w0 scope host
ip route add 10.9.0.6 dev w2 scope link
ip route add 10.9.4.0/22 dev wins0 scope link
ip route replace default dev wins0 scope link`;
    await using host = await HostInNetwork.start(undefined, setup);
    const peers = [
      { subnet: '10.42.5.0/24', via: '10.9.0.5' },
      { subnet: '10.42.6.0/24', via: '10.9.0.6' },
      // Only the default route leads there, so this host is no neighbour.
      { subnet: '10.42.7.0/24', via: '203.0.113.9' },
      // These hosts are neighbours, so no peer may claim them.
      { subnet: '10.9.5.0/24', via: '10.9.6.1' },
    ];
    const status = await applied(host, { peers });
    expect(peers.map(({ subnet }) => stateOf(status, subnet))).toEqual([
      'waiting',
      'waiting',
      'waiting',
      'rejected',
    ]);
  });

  it('serve `wins cli route add` where the default route has `onlink`', async () => {
    const setup = `${ONLY_ADDRESS}
ip route add default via 10.128.0.1 dev wins0 onlink`;
    await using host = await HostInNetwork.start(undefined, setup);
    host.workspace.config([], { routes: { allow: ['8.8.8.8'] } });
    expect((await host.wins('srv', 'config', 'reload')).code).toBe(0);
    for (const verb of ['add', 'rm', 'add'])
      expect(await host.wins('cli', 'route', verb, '--addresses', '8.8.8.8')).toMatchObject({
        code: 0,
        stderr: '',
      });
    expect(leads(host, '8.8.8.8')).toBe('via 10.128.0.1 dev wins0 onlink');
  });
});
