import { LinuxError } from '../linux-error.js';
import { needsNextHops, parseRoutes } from './parse-routes.js';

const NONE = { gateway: '', interface: '' };
const parse = (rows: readonly object[], nextHops: readonly object[] = []) =>
  parseRoutes(JSON.stringify(rows), JSON.stringify(nextHops));
const VIA_IPV6 = { via: { family: 'inet6', host: 'fe80::1' }, dev: 'v0' };

describe('the routes that ip lists', () => {
  it('are those of all makers, and those of wins have their mark', () => {
    const rows = [
      { dst: 'default', gateway: '10.9.0.2', dev: 'v0', protocol: '3', metric: 100 },
      { dst: '169.254.169.254', gateway: '10.9.0.2', dev: 'v0', protocol: '199', metric: 256 },
      { dst: '10.9.0.0/24', dev: 'v0', protocol: '2', scope: '253', prefsrc: '10.9.0.1' },
    ];
    const first = { gateway: '10.9.0.2', interface: 'v0', isOnLink: false };
    expect(parse(rows)).toEqual([
      { ...first, destination: '0.0.0.0/0', metric: 100, isMarked: false },
      { ...first, destination: '169.254.169.254/32', metric: 256, isMarked: true },
      {
        destination: '10.9.0.0/24',
        gateway: '',
        interface: 'v0',
        metric: 0,
        isMarked: false,
        isOnLink: true,
      },
    ]);
  });

  it.each([
    ['253', true],
    ['254', false],
    [undefined, false],
  ])('reach gateways by the scope link alone: %s', (scope, isOnLink) => {
    const [route] = parse([{ dst: '10.0.0.1', dev: 'v0', scope }]);
    expect(route).toMatchObject({ gateway: '', interface: 'v0', isOnLink });
  });

  it.each<[string, object]>([
    ['nowhere', { type: '6', dev: 'v0' }],
    ['to a next hop of IPv6', VIA_IPV6],
    ['to several next hops', { nexthops: [{ dev: 'v0' }, { gateway: '10.9.0.2', dev: 'v1' }] }],
    ['to an unknown nexthop object', { nhid: 9 }],
  ])('have no interface where they lead %s', (_what, row) => {
    expect(parse([{ dst: '10.21.0.0/16', ...row }])).toMatchObject([NONE]);
  });

  it('have their next hops, if there are several', () => {
    const nexthops = [{ gateway: '10.9.0.2', dev: 'v0', weight: 1 }, VIA_IPV6, { dev: 'v1' }];
    expect(parse([{ dst: 'default', nexthops }])[0]?.hops).toEqual([
      { gateway: '10.9.0.2', interface: 'v0' },
      NONE,
      { gateway: '', interface: 'v1' },
    ]);
  });

  it('follow nexthop objects where the kernel shows only their numbers', () => {
    const rows = [
      { dst: 'default', nhid: 8 },
      { dst: '10.1.0.0/24', nhid: 6 },
      { dst: '10.2.0.0/24', nhid: 5, scope: '253' },
      { dst: '10.3.0.0/24', nhid: 9 },
      { dst: '10.4.0.0/24', nhid: 10, type: '6' },
    ];
    const objects = [
      { id: 5, dev: 'v0', scope: '254', flags: [] },
      { id: 6, gateway: '10.9.0.2', dev: 'v0', scope: '253', flags: [] },
      { id: 8, group: [{ id: 6 }, { id: 5, weight: 2 }, { id: 77 }], flags: [] },
      { id: 9, gateway: 'fe80::1', dev: 'v0', scope: '253', flags: [] },
      { id: 10, blackhole: null, flags: [] },
    ];
    expect(needsNextHops(JSON.stringify(rows))).toBe(true);
    const through = { gateway: '10.9.0.2', interface: 'v0' };
    const direct = { gateway: '', interface: 'v0' };
    expect(parse(rows, objects)).toMatchObject([
      { ...NONE, hops: [through, direct, NONE] },
      { ...through, isOnLink: false },
      { ...direct, isOnLink: true },
      NONE,
      NONE,
    ]);
  });

  it('need no list of nexthop objects where the kernel shows the hops', () => {
    const rows = [
      { dst: 'default', nhid: 8, nexthops: [{ gateway: '10.9.0.2', dev: 'v0' }] },
      { dst: '10.2.0.0/24', nhid: 5, dev: 'v0' },
      { dst: '10.4.0.0/24', nhid: 10, type: '6' },
    ];
    expect(needsNextHops(JSON.stringify(rows))).toBe(false);
  });

  it('leave out those for a type of service, which take no place of another', () => {
    expect(parse([{ dst: '10.1.0.0/16', tos: '0x10', dev: 'v0' }])).toEqual([]);
    expect(parseRoutes('')).toEqual([]);
  });

  it.each(['default via 10.9.0.2', '{}'])('cannot be read of another program: %s', (text) => {
    expect(() => parseRoutes(text)).toThrow(LinuxError);
  });
});
