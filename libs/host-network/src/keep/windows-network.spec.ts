import { CONTAINER_NETWORK, parseNetwork } from '@wins/base';
import fc from 'fast-check';
import type { DesiredNetwork } from '../plan/desired-route.js';
import { WindowsModel, type WindowsCall } from '../testing/windows-harness.js';
import { HostNetwork, type HostNetworkStatus } from './host-network.js';

/** Cases of each property; other ones in each run. */
const RUNS = { numRuns: process.env['WINS_TEST_TIER'] === 'long' ? 200 : 20 };

const own = { subnet: '10.42.1.0/24', gateway: '10.42.1.1' };
const B = { id: 'b', subnet: '10.42.2.0/24', nextHop: '172.16.0.3' };
const C = { id: 'c', subnet: '10.42.3.0/24', nextHop: '192.0.2.3' };
const wants = (more: Partial<DesiredNetwork> = {}): DesiredNetwork => ({
  routes: [],
  cluster: ['10.42.0.0/16'],
  own,
  peers: [B],
  ...more,
});
const INSIDE = `vEthernet (${CONTAINER_NETWORK})`;

async function keep(
  model: WindowsModel,
  desired: DesiredNetwork,
  how: 'apply' | 'teardown' = 'apply',
): Promise<HostNetworkStatus> {
  await using kept = new HostNetwork(
    {
      host: model.host,
      records: model,
      beforeSteps: () => Promise.resolve(),
      onStatus: () => undefined,
      onWarning: () => undefined,
    },
    desired,
  );
  return await kept[how]();
}

const stateOf = ({ standings }: HostNetworkStatus, key: string) =>
  standings.find(({ destination }) => destination === key)?.state;

/** Whether wins has enabled forwarding on an interface that lacks a filter. */
function isOpenWithoutLimits(model: WindowsModel): boolean {
  const has = (name: string, description: RegExp, count: number): boolean =>
    model.filters.filter((one) => one.name === name && description.test(one.description)).length ===
    count;
  return model.recorded.some((one) => {
    if (!('item' in one) || one.item.kind !== 'forwarding') return false;
    const { key } = one.item;
    const isInside = key === CONTAINER_NETWORK;
    const at = model.adapters.find(({ guid, name }) => (isInside ? name === INSIDE : guid === key));
    if (at === undefined || model.forwarding.get(at.index) !== true || one.prior === '1')
      return false;
    const index = new RegExp(`^${at.index} `);
    return isInside
      ? !has(`${key} ingress`, index, 6) || !has(`${key} egress`, index, 6)
      : !has(`${key} allow`, index, 1) || !has(`${key} deny`, index, 1);
  });
}

describe('the network of own containers on Windows', () => {
  it('is a network of HNS on the adapter of its name, with gateway, filters and forwarding, and goes without a trace', async () => {
    const model = new WindowsModel();
    const before = model.state;
    const status = await keep(model, wants());
    expect(new Set(status.standings.map(({ state }) => state))).toEqual(new Set(['applied']));
    expect(model.settings).toBe(
      '{"Name":"wins-subnet","Type":"Transparent","Flags":8,' +
        '"Policies":[{"Type":"NetAdapterName","Settings":{"NetworkAdapterName":"wins-subnet"}}],' +
        '"Ipams":[{"Type":"Static","Subnets":[{"IpAddressPrefix":"10.42.1.0/24",' +
        '"Routes":[{"NextHop":"10.42.1.1","DestinationPrefix":"0.0.0.0/0"}]}]}],' +
        '"SchemaVersion":{"Major":2,"Minor":0}}',
    );
    expect(model.state).toEqual(
      expect.arrayContaining([
        'forwarding Ethernet 2 true',
        'forwarding Ethernet false',
        `forwarding ${INSIDE} true`,
        'network wins-subnet [{"addressCidr":"10.42.1.0/24","gatewayAddress":"10.42.1.1"}]',
        'route 10.42.2.0/24',
        '{V20} vEthernet (wins-subnet) 169.254.3.3/16 10.42.1.1/24',
      ]),
    );
    expect(status.standings).toContainEqual(
      expect.objectContaining({ destination: '{E1} deny', interface: 'Ethernet 2' }),
    );
    expect(model.filters).toHaveLength(14);
    expect(isOpenWithoutLimits(model)).toBe(false);
    await keep(model, wants(), 'teardown');
    expect([model.state, model.recorded]).toEqual([before, []]);
  });

  it('is not made without an adapter of its own, and the reason is told', async () => {
    const model = new WindowsModel();
    model.adapters = model.adapters.filter(({ name }) => name !== CONTAINER_NETWORK);
    const { problems } = await keep(model, wants());
    expect(problems.join()).toMatch(/wanted a loopback adapter with the name wins-subnet/);
    expect(model.networks).toEqual([]);
    const carrying = new WindowsModel();
    carrying.adapters = carrying.adapters.map((one) =>
      one.name === 'Ethernet' ? { ...one, name: CONTAINER_NETWORK } : one,
    );
    carrying.adapters = carrying.adapters.filter(({ guid }) => guid !== '{L}');
    expect((await keep(carrying, wants())).problems.join()).toMatch(/carries 192\.0\.2\.2\/24/);
    expect([...carrying.forwarding.values()]).not.toContain(true);
  });

  it('yields to a network of another program', async () => {
    const model = new WindowsModel();
    const [id, name] = ['11111111-2222-3333-4444-555555555555', CONTAINER_NETWORK];
    model.networks.push({ id, name, type: 'nat', managementIp: '', subnets: [] });
    const before = model.state;
    const status = await keep(model, wants());
    expect(stateOf(status, CONTAINER_NETWORK)).toBe('conflict');
    await keep(model, wants(), 'teardown');
    expect(model.state.filter((one) => !one.startsWith('route'))).toEqual(before);
  });

  it('is made anew for another subnet, as HNS has it', async () => {
    const model = new WindowsModel();
    await keep(model, wants());
    await keep(model, wants({ own: { subnet: '10.42.9.0/24', gateway: '10.42.9.1' } }));
    expect(model.networks).toMatchObject([{ subnets: [{ addressCidr: '10.42.9.0/24' }] }]);
    expect(isOpenWithoutLimits(model)).toBe(false);
  });

  it('stays at a teardown while containers are attached, and nothing is forwarded', async () => {
    const model = new WindowsModel();
    await keep(model, wants());
    model.attached = ['11111111-2222-3333-4444-555555555555'];
    const { problems } = await keep(model, wants(), 'teardown');
    expect(problems.join()).toMatch(/1 containers are attached to wins-subnet/);
    expect([...model.forwarding.values()]).not.toContain(true);
    model.attached = [];
    await keep(model, wants(), 'teardown');
    expect(model.networks).toEqual([]);
  });

  it('comes back when HNS has lost it, and when an interface has got another index', async () => {
    const model = new WindowsModel();
    await keep(model, wants());
    const { length } = model.filters;
    let wasOpen = false;
    model.loseNetwork();
    model.onChange = () => (wasOpen ||= isOpenWithoutLimits(model));
    expect((await keep(model, wants())).kind).toBe('settled');
    // Stop calling `isOpenWithoutLimits`: after `renumber`, the interface has no filters until the next pass.
    model.onChange = () => undefined;
    model.renumber('Ethernet 2');
    await keep(model, wants());
    expect((await keep(model, wants())).kind).toBe('settled');
    expect([model.filters.length, wasOpen, isOpenWithoutLimits(model)]).toEqual([
      length,
      false,
      false,
    ]);
  });

  it('closes before it opens again when a filter was taken away', async () => {
    const model = new WindowsModel();
    await keep(model, wants());
    const there = model.state;
    model.filters = model.filters.slice(1);
    model.denied.add('changeFilters');
    await keep(model, wants());
    expect([...model.forwarding.values()]).not.toContain(true);
    model.denied.clear();
    await keep(model, wants());
    expect(model.state).toEqual(there);
  });

  it.each<WindowsCall>(['createNetwork', 'addAddress', 'changeFilters'])(
    'lets nothing be forwarded while %s is denied',
    async (call) => {
      const model = new WindowsModel();
      model.denied.add(call);
      expect((await keep(model, wants())).kind).toBe('partial');
      expect([...model.forwarding.values()]).not.toContain(true);
      model.denied.clear();
      expect((await keep(model, wants())).kind).toBe('settled');
    },
  );
});

describe('the network of own containers on Windows, while it cannot be listed', () => {
  const route = { destination: '198.51.100.0/24', gateway: '172.16.0.9', metric: 256 };
  const other = { ...route, destination: '203.0.113.0/24' };
  const itemsOf = (model: WindowsModel) => model.recorded.filter((one) => 'item' in one);
  const withoutRoutes = ({ state }: WindowsModel) => state.filter((one) => !/^route 198/.test(one));

  it.each<WindowsCall>(['networks', 'readFilters', 'isForwarding'])(
    'stays with its record, as routes are kept, and the reason is told (%s)',
    async (call) => {
      const model = new WindowsModel();
      const before = model.state;
      await keep(model, wants({ routes: [route] }));
      const [there, items, bare] = [model.state, itemsOf(model), withoutRoutes(model)];
      model.denied.add(call);
      model.rows = [];
      const { kind, problems, standings } = await keep(model, wants({ routes: [route] }));
      expect([kind, problems]).toEqual(['partial', [`10.42.1.0/24: ${call}: not permitted`]]);
      expect(standings.map(({ state }) => state)).toEqual(['applied', 'applied', 'failed']);
      expect([model.state, itemsOf(model)]).toEqual([there, items]);
      // Changing the subnet and removing the network also wait until the network can be listed.
      const elsewhere = { subnet: '10.42.9.0/24', gateway: '10.42.9.1' };
      await keep(model, wants({ routes: [route, other], own: elsewhere }));
      expect(model.state).toEqual([...there, 'route 203.0.113.0/24'].sort());
      const unwanted = { routes: [], peers: [B], cluster: ['10.42.0.0/16'] };
      expect((await keep(model, unwanted)).problems).toEqual([
        `wins-subnet: ${call}: not permitted`,
      ]);
      expect([model.state, itemsOf(model)]).toEqual([bare, items]);
      model.denied.clear();
      await keep(model, wants(), 'teardown');
      expect([model.state, model.recorded]).toEqual([before, []]);
    },
  );

  it('is not taken down, nor forgotten, and the reason is told', async () => {
    const model = new WindowsModel();
    const before = model.state;
    await keep(model, wants({ routes: [route] }));
    const items = itemsOf(model);
    model.denied.add('networks');
    const { problems } = await keep(model, wants({ routes: [route] }), 'teardown');
    expect(problems).toEqual(['wins-subnet: networks: not permitted']);
    expect([model.rows, model.recorded, model.networks.length]).toEqual([[], items, 1]);
    model.denied.clear();
    await keep(model, wants({ routes: [route] }), 'teardown');
    expect([model.state, model.recorded]).toEqual([before, []]);
  });

  it('is not made, and routes are', async () => {
    const model = new WindowsModel();
    const { forwarding } = model;
    model.denied.add('networks');
    await keep(model, wants({ routes: [route] }));
    expect([model.networks, model.filters, model.forwarding]).toEqual([[], [], forwarding]);
    expect(model.rows).toHaveLength(2);
  });
});

describe('a gateway on Windows', () => {
  const network = (text: string) => parseNetwork(text) ?? { bytes: new Uint8Array(), prefix: 0 };
  /** A host whose second adapter has one address, so that no network of it contains the gateway. */
  const alone = (): WindowsModel => {
    const model = new WindowsModel();
    model.adapters = model.adapters.map((one) =>
      one.name === 'Ethernet 2' ? { ...one, addresses: [network('10.0.0.2/32')] } : one,
    );
    return model;
  };
  const behind = { destination: '10.50.0.0/16', gateway: '10.0.0.1', metric: 256 };
  const wanted = { routes: [behind] };

  it('is reached by the route to it alone, once it is there', async () => {
    const model = alone();
    expect(stateOf(await keep(model, wanted), behind.destination)).toBe('waiting');
    model.rows.push({
      destination: network('10.0.0.1/32'),
      nextHop: Uint8Array.of(0, 0, 0, 0),
      interfaceIndex: model.index('Ethernet 2'),
      metric: 256,
      protocol: 3,
    });
    expect(stateOf(await keep(model, wanted), behind.destination)).toBe('applied');
    expect(model.rows.at(-1)).toMatchObject({ interfaceIndex: 5 });
    await keep(model, wanted, 'teardown');
    expect(model.rows).toHaveLength(1);
  });

  it('is on the adapter that the route names', async () => {
    const model = alone();
    const named = { routes: [{ ...behind, interface: 'Ethernet 2' }] };
    expect(stateOf(await keep(model, named), behind.destination)).toBe('applied');
    expect(model.rows).toMatchObject([{ interfaceIndex: 5 }]);
  });
});

describe('the network of own containers on Windows, whatever is wanted and whenever the process dies', () => {
  const desired = fc.record({
    routes: fc.constant([]),
    own: fc.constantFrom(undefined, own, { ...own, gateway: '10.42.1.9' }),
    peers: fc.subarray([B, C]),
    cluster: fc.constantFrom(['10.42.0.0/16'], ['10.42.0.0/15']),
  });
  const death = fc.record({
    at: fc.nat(30),
    after: fc.boolean(),
    unlistedAfter: fc.option(fc.nat(6), { nil: Infinity }),
  });

  it('comes to the same, is never open without limits, and goes without a trace', () =>
    fc.assert(
      fc.asyncProperty(desired, desired, death, async (first, second, dies) => {
        const [model, untouched] = [new WindowsModel(), new WindowsModel()];
        for (const one of [model, untouched]) {
          // Another program has enabled forwarding on this interface.
          one.forwarding.set(one.index('Ethernet'), true);
        }
        const before = model.state;
        for (const one of [model, untouched]) await keep(one, first);
        await keep(untouched, second);
        let wasOpen = false;
        model.onChange = () => (wasOpen ||= isOpenWithoutLimits(model));
        model.callsLeft = dies.at;
        model.listsLeft = dies.unlistedAfter;
        model.diesAfter = dies.after;
        await keep(model, second);
        model.revive();
        await keep(model, second);
        const withoutIndex = (text: string) => text.replace(/\{V\d+\}/, '{V}');
        expect([model.state.map(withoutIndex), wasOpen]).toEqual([
          untouched.state.map(withoutIndex),
          false,
        ]);
        const { changes } = model;
        await keep(model, second);
        expect(model.changes).toBe(changes);
        await keep(model, second, 'teardown');
        expect([model.state, model.recorded]).toEqual([before, []]);
      }),
      RUNS,
    ));
});
