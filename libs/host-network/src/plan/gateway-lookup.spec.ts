import { CONTAINER_NETWORK, type ListedRoute, type RouteInterface } from '@wins/base';
import { connectedRoutes } from '../testing/model-host.js';
import { cloudRoutes, type DesiredNetwork, type DesiredRoute } from './desired-route.js';
import { plan, type OwnedRoute } from './plan.js';

const card = (name: string, addresses: readonly string[], metric = 0): RouteInterface => ({
  id: name,
  name,
  metric,
  addresses,
});
const eth0 = card('eth0', ['192.0.2.2/24']);
const eth1 = card('eth1', ['10.0.0.2/32']);
const onLink = (destination: string, through: string, metric = 0): ListedRoute => ({
  destination,
  gateway: '',
  interface: through,
  metric,
});
const via = (destination: string, gateway: string, through: string, metric = 0): ListedRoute => ({
  destination,
  gateway,
  interface: through,
  metric,
});
const byDefault = via('0.0.0.0/0', '192.0.2.1', 'eth0');
const hostRoute = onLink('10.0.0.1/32', 'eth1');
const PEER = '10.42.1.0/24';
const to = (gateway: string, named?: string): DesiredRoute => ({
  destination: PEER,
  gateway,
  metric: 256,
  ...(named !== undefined && { interface: named }),
});

/** Where the plan leads the only desired route. */
function judge(
  desired: Partial<DesiredNetwork>,
  routes: readonly ListedRoute[],
  interfaces: readonly RouteInterface[] = [eth0, eth1],
  record: readonly OwnedRoute[] = [],
): string {
  const actual = { interfaces, routes: [...connectedRoutes(interfaces), ...routes] };
  const { steps, standings } = plan({ routes: [], ...desired }, actual, record);
  const [standing] = standings;
  if (standing?.state !== 'planned') return `${standing?.state}: ${standing?.detail}`;
  const added = steps.find(({ op }) => op === 'add');
  if (added === undefined || !('route' in added)) return 'no step';
  const { gateway, interface: through } = added.route;
  return [gateway, through, ...(added.assumesOnLink === true ? ['assumed'] : [])].join(' ').trim();
}

describe('a gateway', () => {
  const twin = card('eth2', ['192.0.2.9/24']);
  const wide = card('eth2', ['10.0.0.9/16']);
  const ppp = card('ppp0', ['10.64.0.2/32']);
  const NONE = (gateway: string) => `waiting: no interface reaches the gateway ${gateway}`;

  it.each<[string, string, readonly ListedRoute[], RouteInterface, string]>([
    ['by the network of an address', '192.0.2.7', [], eth1, '192.0.2.7 eth0'],
    ['by a host route', '10.0.0.1', [hostRoute], eth1, '10.0.0.1 eth1'],
    ['only with that route', '10.0.0.1', [], eth1, NONE('10.0.0.1')],
    [
      'not by a route with a gateway',
      '10.0.0.3',
      [hostRoute, via('10.0.0.0/16', '10.0.0.1', 'eth1')],
      eth1,
      NONE('10.0.0.3'),
    ],
    [
      'by the longest prefix',
      '10.0.7.1',
      [onLink('10.0.7.0/24', 'eth0', 900), onLink('10.0.0.0/8', 'eth0')],
      wide,
      '10.0.7.1 eth0',
    ],
    [
      'by the lowest metric',
      '10.5.0.1',
      [onLink('10.5.0.0/24', 'eth0', 20), onLink('10.5.0.0/24', 'eth1', 10)],
      eth1,
      '10.5.0.1 eth1',
    ],
    ['by the first route of equal ones', '192.0.2.7', [], twin, '192.0.2.7 eth0'],
    [
      'by a default route without gateway',
      '203.0.113.9',
      [onLink('0.0.0.0/0', 'ppp0')],
      ppp,
      '203.0.113.9 ppp0',
    ],
    [
      'not by a route whose scope excludes it',
      '10.0.0.1',
      [{ ...hostRoute, isOnLink: false }],
      eth1,
      NONE('10.0.0.1'),
    ],
    [
      'not by the loopback',
      '10.7.0.1',
      [onLink('10.7.0.1/32', 'lo')],
      card('lo', ['127.0.0.1/8', '10.7.0.2/32']),
      NONE('10.7.0.1'),
    ],
    [
      'not by an interface that is down',
      '10.7.0.1',
      [onLink('10.7.0.0/24', 'eth9')],
      eth1,
      NONE('10.7.0.1'),
    ],
    [
      'not by an interface without address',
      '10.7.0.1',
      [onLink('10.7.0.1/32', 'cali1')],
      card('cali1', []),
      NONE('10.7.0.1'),
    ],
    [
      'by a default route through the same gateway',
      '10.0.0.1',
      [via('0.0.0.0/0', '10.0.0.1', 'eth1', 9)],
      eth1,
      '10.0.0.1 eth1 assumed',
    ],
  ])('is reached %s', (_what, gateway, routes, other, expected) => {
    expect(judge({ routes: [to(gateway)] }, [byDefault, ...routes], [eth0, other])).toBe(expected);
  });

  it('counts the metric of the interface, as Windows does', () => {
    const cards = [card('eth0', ['192.0.2.2/24'], 75), card('eth2', ['192.0.2.9/24'], 25)];
    expect(judge({ routes: [to('192.0.2.7')] }, [], cards)).toBe('192.0.2.7 eth2');
  });

  it('stays on an interface that is as good as the first', () => {
    const there = via(PEER, '192.0.2.7', 'eth2', 256);
    const record: OwnedRoute[] = [{ route: there, state: 'applied' }];
    const wanted = { routes: [to('192.0.2.7')] };
    expect(judge(wanted, [there], [eth0, twin], record)).toBe('applied: ');
    const better = onLink('192.0.2.7/32', 'eth0');
    expect(judge(wanted, [there, better], [eth0, twin], record)).toBe('192.0.2.7 eth0');
  });

  it.each<[string, string, string, readonly ListedRoute[], string]>([
    ['where a route leads to it', 'eth1', '10.0.0.1', [hostRoute], '10.0.0.1 eth1'],
    ['where none does', 'eth1', '10.0.0.3', [hostRoute], '10.0.0.3 eth1 assumed'],
    ['where another interface is nearer', 'eth1', '192.0.2.7', [], '192.0.2.7 eth1 assumed'],
    [
      'without an address of IPv4',
      'bare',
      '10.7.0.1',
      [onLink('10.7.0.1/32', 'bare')],
      '10.7.0.1 bare',
    ],
  ])('is on the interface that its route names, %s', (_what, named, gateway, routes, expected) => {
    const cards = [eth0, eth1, card('bare', [])];
    expect(judge({ routes: [to(gateway, named)] }, [byDefault, ...routes], cards)).toBe(expected);
  });

  it.each<[string, string, string, RegExp]>([
    ['an address of this host', '10.0.0.2', 'eth0', /^rejected: .*an address of this host/],
    ['a broadcast address of another interface', '192.0.2.255', 'eth1', /^rejected: .*broadcast/],
    ['the loopback', '127.0.0.9', 'eth0', /^rejected: 127\.0\.0\.9 cannot be its gateway/],
    ['multicast', '224.0.0.5', 'ppp0', /^rejected: .*multicast/],
    ['zero', '0.0.0.0', 'eth0', /^rejected: 0\.0\.0\.0 cannot be its gateway/],
    [
      'on the loopback interface',
      '10.7.0.1',
      'lo',
      /^rejected: its interface "lo" is the loopback/,
    ],
  ])('is rejected if it is %s, whatever its route names', (_what, gateway, named, reason) => {
    const cards = [eth0, eth1, ppp, card('lo', ['127.0.0.1/8'])];
    const routes = [onLink('0.0.0.0/0', 'ppp0')];
    expect(judge({ routes: [to(gateway, named)] }, routes, cards)).toMatch(reason);
  });

  it('leads to no destination in the network that reaches it', () => {
    const lan = onLink('10.5.0.0/16', 'eth1');
    const inside = { ...to('10.5.0.1'), destination: '10.5.7.0/24' };
    const reason = 'rejected: it overlaps 10.5.0.0/16, the network of its gateway';
    expect(judge({ routes: [inside] }, [lan])).toBe(reason);
    const peers = [{ id: 'b', subnet: '10.5.7.0/24', nextHop: '10.5.0.1' }];
    expect(judge({ peers }, [lan])).toBe(reason);
    // Addresses of cloud services are in the link-local network, behind the gateway.
    const zeroconf = onLink('169.254.0.0/16', 'eth1');
    const metadata = { ...to('169.254.1.1'), destination: '169.254.169.254/32' };
    expect(judge({ routes: [metadata] }, [zeroconf])).toBe('169.254.1.1 eth1');
  });

  it('of a peer is not reached by a default route, which leads to everybody', () => {
    const routes = [onLink('0.0.0.0/0', 'ppp0'), onLink('10.64.0.1/32', 'ppp0')];
    const peer = (nextHop: string) => ({ peers: [{ id: 'b', subnet: PEER, nextHop }] });
    expect(judge(peer('203.0.113.9'), routes, [eth0, ppp])).toBe(NONE('203.0.113.9'));
    expect(judge(peer('10.64.0.1'), routes, [eth0, ppp])).toBe('10.64.0.1 ppp0');
  });

  it('of a peer is never a container, nor reached by the route of another peer', () => {
    const bridge = card(CONTAINER_NETWORK, ['10.42.9.1/24']);
    const cards = [eth0, eth1, bridge];
    const peer = (nextHop: string) => ({ peers: [{ id: 'b', subnet: PEER, nextHop }] });
    expect(judge(peer('10.42.9.7'), [byDefault], cards)).toBe(NONE('10.42.9.7'));
    expect(judge({ routes: [to('10.42.9.7')] }, [byDefault], cards)).toBe('10.42.9.7 wins-subnet');
    const other = via('10.42.2.0/24', '192.0.2.7', 'eth0', 256);
    expect(judge(peer('10.42.2.9'), [byDefault, other], cards)).toBe(NONE('10.42.2.9'));
  });

  it.each<[string, readonly ListedRoute[], string]>([
    ['through a gateway', [byDefault], '192.0.2.1 eth0'],
    [
      'through a gateway outside of every network',
      [via('0.0.0.0/0', '10.0.0.1', 'eth1')],
      '10.0.0.1 eth1 assumed',
    ],
    [
      'through a gateway with a host route',
      [via('0.0.0.0/0', '10.0.0.1', 'eth1'), hostRoute],
      '10.0.0.1 eth1',
    ],
    ['without a gateway', [onLink('0.0.0.0/0', 'eth1')], 'eth1'],
    [
      'through a gateway, beside a tunnel',
      [onLink('0.0.0.0/0', 'eth1'), { ...byDefault, metric: 900 }],
      '192.0.2.1 eth0',
    ],
    [
      'to several next hops',
      [
        {
          destination: '0.0.0.0/0',
          gateway: '',
          interface: '',
          metric: 0,
          isOnLink: false,
          hops: [
            { gateway: '', interface: '' },
            { gateway: '203.0.113.1', interface: 'eth9' },
            { gateway: '192.0.2.3', interface: 'eth0' },
          ],
        },
      ],
      '192.0.2.3 eth0',
    ],
    ['to IPv6', [via('0.0.0.0/0', '', '')], 'waiting: there is no default route'],
  ])('of the default route is found: %s', (_what, routes, expected) => {
    expect(judge({ routes: cloudRoutes(['gce']) }, routes)).toBe(expected);
  });

  it('of one of several next hops is in no destination either', () => {
    const hops = [
      { gateway: '192.0.2.3', interface: 'eth0' },
      { gateway: '10.6.0.1', interface: 'eth1' },
    ];
    const several: ListedRoute = { ...via('0.0.0.0/0', '', ''), hops };
    const wanted = { ...to('192.0.2.7'), destination: '10.6.0.0/16' };
    expect(judge({ routes: [wanted] }, [several])).toBe('rejected: the gateway 10.6.0.1 is in it');
  });
});
