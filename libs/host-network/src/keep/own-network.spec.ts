import { CONTAINER_NETWORK, type ListedItem, type NetworkItem } from '@wins/base';
import fc from 'fast-check';
import type { DesiredNetwork } from '../plan/desired-route.js';
import type { DesiredPeer } from '../plan/judge-peers.js';
import type { Owned } from '../plan/plan.js';
import { ModelHost } from '../testing/model-host.js';
import { HostNetwork, type HostNetworkStatus } from './host-network.js';

/** Cases of each property; other ones in each run. */
const RUNS = { numRuns: process.env['WINS_TEST_TIER'] === 'long' ? 300 : 30 };

const INTERFACES = [
  { id: 'e0', name: 'e0', metric: 0, addresses: ['192.0.2.2/24'] },
  { id: 'e1', name: 'e1', metric: 0, addresses: ['172.16.0.2/24'] },
  { id: 'e2', name: 'e2', metric: 0, addresses: ['172.16.1.2/24'] },
];
const cluster = ['10.42.0.0/16'];
const own = { subnet: '10.42.1.0/24', gateway: '10.42.1.1' };
const B: DesiredPeer = { id: 'b', subnet: '10.42.2.0/24', nextHop: '172.16.0.3' };
const C: DesiredPeer = { id: 'c', subnet: '10.42.3.0/24', nextHop: '172.16.1.3' };
const wants = (more: Partial<DesiredNetwork> = {}): DesiredNetwork => ({
  routes: [],
  cluster,
  own,
  peers: [B],
  ...more,
});

const newHost = (): ModelHost => new ModelHost('linux', INTERFACES, []);

async function keep(
  host: ModelHost,
  desired: DesiredNetwork,
  how: 'apply' | 'teardown' = 'apply',
): Promise<HostNetworkStatus> {
  await using network = new HostNetwork(
    {
      host,
      records: host,
      beforeSteps: () => Promise.resolve(),
      onStatus: () => undefined,
      onWarning: () => undefined,
    },
    desired,
  );
  return await network[how]();
}

const words = (items: readonly ListedItem[]): readonly string[] =>
  items.map(({ kind, key, value }) => `${kind} ${key} ${value}`.trim()).sort();
const all = (host: ModelHost) => [...words(host.items), ...host.routes.map((r) => r.destination)];
const stateOf = ({ standings }: HostNetworkStatus, key: string) =>
  standings.find(({ destination }) => destination === key)?.state;
/** Whether wins has enabled forwarding somewhere while a filter or rule that limits it is missing. */
function isOpenWithoutLimits(host: ModelHost): boolean {
  const isOurs = (key: string): boolean =>
    host.recorded.some(
      (one) => 'item' in one && one.item.kind === 'forwarding' && one.item.key === key,
    ) && host.item('forwarding', key)?.value === '1';
  const open = [CONTAINER_NETWORK, 'e0', 'e1', 'e2'].filter(isOurs);
  const limits: readonly (ListedItem | undefined)[] = [
    host.item('filter', `${CONTAINER_NETWORK} ingress`),
    host.item('filter', `${CONTAINER_NETWORK} egress`),
    ...open
      .filter((key) => key !== CONTAINER_NETWORK)
      .flatMap((key) => [host.item('rule', `${key} allow`), host.item('rule', `${key} deny`)]),
  ];
  return open.length > 0 && limits.includes(undefined);
}

describe('the network of own containers', () => {
  it('has a gateway, filters, and rules for the interfaces that lead to peers, and goes without a trace', async () => {
    const host = newHost();
    const before = all(host);
    const status = await keep(host, wants());
    expect(new Set(status.standings.map(({ state }) => state))).toEqual(new Set(['applied']));
    expect(words(host.items)).toEqual([
      'address 10.42.1.1/24 wins-subnet',
      'bridge wins-subnet',
      'filter wins-subnet egress 10.42.1.0/24 10.42.0.0/16',
      'filter wins-subnet ingress 10.42.1.0/24 10.42.0.0/16',
      'forwarding e0 0',
      'forwarding e1 1',
      'forwarding e2 0',
      'forwarding wins-subnet 1',
      'rule e1 allow 10.42.1.0/24',
      'rule e1 deny',
    ]);
    await keep(host, wants(), 'teardown');
    expect([all(host), host.recorded]).toEqual([before, []]);
  });

  it('is not made where the system cannot limit it', async () => {
    const host = new ModelHost('windows', INTERFACES, []);
    const status = await keep(host, wants());
    expect(status.standings).toMatchObject([
      { kind: 'route', state: 'applied' },
      { kind: 'subnet', state: 'rejected', code: 'unsupported' },
    ]);
  });

  it.each<[string, Partial<DesiredNetwork>, string]>([
    [
      'where the host is in the cluster',
      { cluster: ['10.0.0.0/8', '172.16.0.0/12'] },
      'hostInCluster',
    ],
    ['outside of the cluster', { cluster: ['10.43.0.0/16'] }, 'outsideCluster'],
    ['of 30 bits', { own: { subnet: '10.42.1.0/30', gateway: '10.42.1.1' } }, 'prefixLength'],
    [
      'with bits below its prefix',
      { own: { subnet: '10.42.1.1/24', gateway: '10.42.1.1' } },
      'notCanonical',
    ],
    ['of loopback', { own: { subnet: '127.1.0.0/16', gateway: '127.1.0.1' } }, 'unroutable'],
    ['whose gateway is elsewhere', { own: { ...own, gateway: '10.42.2.1' } }, 'gatewayInvalid'],
    [
      'whose gateway is its broadcast address',
      { own: { ...own, gateway: '10.42.1.255' } },
      'gatewayInvalid',
    ],
    [
      'with shell text as gateway',
      { own: { ...own, gateway: '10.42.1.1; reboot' } },
      'gatewayInvalid',
    ],
    ['with the resolver in reach', { reserved: ['10.42.9.9'] }, 'reservedAddress'],
  ])('is refused %s', async (_what, more, code) => {
    const host = newHost();
    const before = all(host);
    const { standings } = await keep(host, wants({ ...more, peers: [] }));
    expect(standings).toMatchObject([{ kind: 'subnet', state: 'rejected', code }]);
    expect(all(host)).toEqual(before);
  });

  it('yields to what another program made, and lets nothing be forwarded then', async () => {
    const bridge = { kind: 'bridge', key: CONTAINER_NETWORK, value: 'bridge' } as const;
    const host = newHost();
    host.put(bridge, false);
    const before = words(host.items);
    const status = await keep(host, wants());
    expect(stateOf(status, CONTAINER_NETWORK)).toBe('conflict');
    expect(stateOf(status, 'e1')).toBe('waiting');
    expect(words(host.items)).toEqual(before);
    host.routes.push({
      destination: '10.42.1.128/25',
      gateway: '192.0.2.9',
      interface: 'e0',
      metric: 0,
    });
    const led = await keep(host, wants());
    expect(led.standings).toContainEqual(expect.objectContaining({ code: 'foreignRoute' }));
  });

  it('makes no rules for an interface that others let forward, and leaves that on', async () => {
    const host = newHost();
    host.put({ kind: 'forwarding', key: 'e1', value: '1' });
    expect(stateOf(await keep(host, wants()), 'e1')).toBe('foreign');
    expect(host.item('rule', 'e1 deny')).toBeUndefined();
    await keep(host, wants(), 'teardown');
    expect(host.item('forwarding', 'e1')?.value).toBe('1');
  });

  it('leaves on what others let forward later, and takes its rules away', async () => {
    const host = newHost();
    await keep(host, wants());
    host.put({ kind: 'forwarding', key: 'e1', value: '1' }, false);
    await keep(host, wants());
    expect(host.item('rule', 'e1 deny')).toBeUndefined();
    await keep(host, wants(), 'teardown');
    expect(host.item('forwarding', 'e1')?.value).toBe('1');
  });

  it.each(['filter', 'rule', 'bridge', 'address'])(
    'lets nothing be forwarded when no %s can be made',
    async (kind) => {
      const host = newHost();
      host.denied.add(kind);
      const status = await keep(host, wants());
      expect(status.kind).toBe('partial');
      expect(host.items.filter((at) => at.kind === 'forwarding' && at.value === '1')).toEqual([]);
      host.denied.clear();
      expect((await keep(host, wants())).kind).toBe('settled');
    },
  );

  it('closes before it opens again when a filter was taken away, and stays closed when none can be made', async () => {
    const host = newHost();
    await keep(host, wants());
    const there = words(host.items);
    host.put({ kind: 'filter', key: `${CONTAINER_NETWORK} egress` });
    host.denied.add('filter');
    await keep(host, wants());
    expect(host.item('forwarding', 'e1')?.value).toBe('0');
    host.denied.clear();
    await keep(host, wants());
    expect(words(host.items)).toEqual(there);
  });

  it('lists what has its mark and no record, and leaves it alone', async () => {
    const host = newHost();
    await keep(host, wants());
    host.recorded = [];
    const there = words(host.items);
    const orphans = ['bridge wins-subnet', 'rule e1 allow', 'rule e1 deny'];
    const elsewhere = wants({ own: { subnet: '10.42.9.0/24', gateway: '10.42.9.1' }, peers: [] });
    const status = await keep(host, elsewhere);
    expect(status.orphans).toEqual(expect.arrayContaining(orphans.slice(1)));
    expect(stateOf(status, `${CONTAINER_NETWORK} ingress`)).toBe('conflict');
    await keep(host, elsewhere, 'teardown');
    expect(words(host.items)).toEqual(
      expect.arrayContaining(there.filter((one) => !one.startsWith('address'))),
    );
  });

  it('keeps what stands below while something above cannot be removed', async () => {
    const host = newHost();
    await keep(host, wants());
    host.denied.add('forwarding');
    expect(await keep(host, wants(), 'teardown')).toMatchObject({ kind: 'partial' });
    expect(host.item('filter', `${CONTAINER_NETWORK} ingress`)).toBeDefined();
    host.denied.clear();
    await keep(host, wants(), 'teardown');
    expect(host.recorded).toEqual([]);
  });
});

describe('the network of own containers, whatever is wanted and whoever else changes the host', () => {
  const peers = fc.subarray([B, C, { ...C, id: 'd', nextHop: '172.16.0.4' }]);
  const subnets = fc.constantFrom<DesiredNetwork['own']>(
    undefined,
    own,
    { ...own, gateway: '10.42.1.9' },
    { subnet: '10.42.9.0/24', gateway: '10.42.9.1' },
  );
  const ranges = fc.constantFrom(cluster, ['10.42.0.0/15'], ['10.43.0.0/16']);
  const desired = fc
    .record({ own: subnets, peers, cluster: ranges })
    .map((given): DesiredNetwork => ({ routes: [], ...given }));
  const strange = fc.constantFrom<NetworkItem & { isMarked?: boolean }>(
    { kind: 'forwarding', key: 'e1', value: '1' },
    { kind: 'forwarding', key: 'e2', value: '1', isMarked: false },
    { kind: 'bridge', key: CONTAINER_NETWORK, value: 'bridge', isMarked: false },
    { kind: 'rule', key: 'e1 allow', value: '10.42.8.0/24', isMarked: true },
    { kind: 'rule', key: 'e9 deny', value: '', isMarked: true },
  );
  const world = fc.record({ first: desired, second: desired, foreign: fc.array(strange) });
  const hostOf = ({ foreign }: { foreign: (NetworkItem & { isMarked?: boolean })[] }) => {
    const host = newHost();
    for (const { isMarked, ...item } of foreign) host.put(item, isMarked);
    return host;
  };

  it('changes with the first apply alone, leaves alone what is foreign, and goes without a trace', () =>
    fc.assert(
      fc.asyncProperty(world, async ({ first, second, ...given }) => {
        const host = hostOf(given);
        const before = all(host);
        let wasOpen = false;
        host.onChange = () => (wasOpen ||= isOpenWithoutLimits(host));
        await keep(host, first);
        await keep(host, second);
        const once = all(host);
        const { changes } = host;
        await keep(host, second);
        expect([all(host), host.changes, wasOpen]).toEqual([once, changes, false]);
        for (const item of words(
          hostOf(given).items.filter(({ kind, value }) => kind !== 'forwarding' || value === '1'),
        ))
          expect(once).toContain(item);
        await keep(host, second, 'teardown');
        await keep(host, second, 'teardown');
        expect([all(host), host.recorded]).toEqual([before, []]);
      }),
      RUNS,
    ));

  it('ends up the same when the process dies at any call, and never forwards without its limits', () =>
    fc.assert(
      fc.asyncProperty(world, fc.nat(30), async ({ first, second, ...given }, dies) => {
        const host = hostOf(given);
        const before = all(host);
        const untouched = hostOf(given);
        for (const one of [host, untouched]) await keep(one, first);
        await keep(untouched, second);
        let wasOpen = false;
        host.onChange = () => (wasOpen ||= isOpenWithoutLimits(host));
        host.callsLeft = dies;
        await keep(host, second);
        host.callsLeft = Infinity;
        await keep(host, second);
        expect([all(host), wasOpen]).toEqual([all(untouched), false]);
        await keep(host, second, 'teardown');
        expect(all(host)).toEqual(before);
      }),
      RUNS,
    ));

  it('is nobody’s without its record: nothing of it is removed then', () =>
    fc.assert(
      fc.asyncProperty(world, async ({ first, ...given }) => {
        const host = hostOf(given);
        await keep(host, first);
        const there = all(host);
        host.recorded = [] satisfies Owned[];
        await keep(host, { routes: [] }, 'teardown');
        expect(all(host)).toEqual(there);
      }),
      RUNS,
    ));
});
