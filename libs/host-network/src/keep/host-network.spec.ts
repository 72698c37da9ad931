import type { StaticRoute } from '@wins/base';
import type { Clock } from '@wins/time';
import fc from 'fast-check';
import { once, EventEmitter, type Abortable } from 'node:events';
import type { DesiredRoute } from '../plan/desired-route.js';
import { ModelHost, type Dialect } from '../testing/model-host.js';
import { HostNetwork, type HostNetworkOptions, type HostNetworkStatus } from './host-network.js';

/** Cases of each property; other ones in each run. */
const RUNS = { numRuns: process.env['WINS_TEST_TIER'] === 'long' ? 300 : 30 };

const INTERFACES = [
  { id: 'e0', name: 'eth0', metric: 0, addresses: ['192.0.2.2/24'] },
  { id: 'e1', name: 'eth1', metric: 0, addresses: ['172.16.0.2/24'] },
];
const DEFAULT: StaticRoute = {
  destination: '0.0.0.0/0',
  gateway: '192.0.2.1',
  interface: 'e0',
  metric: 0,
};
const PEER: DesiredRoute = {
  destination: '10.1.0.0/16',
  gateway: '172.16.0.3',
  metric: 256,
};

/** A clock whose time stands still. `end` ends all waits of a given length. */
class StillClock implements Clock {
  readonly #waits = new EventEmitter();
  now = () => new Date(0);
  monotonicMs = () => 0;
  async wait(ms: number, { signal }: Abortable = {}): Promise<void> {
    signal?.throwIfAborted();
    await once(this.#waits, String(ms), { signal });
  }
  get lengths(): readonly number[] {
    return this.#waits.eventNames().map(Number);
  }
  end(ms: number): boolean {
    return this.#waits.emit(String(ms));
  }
}

function kept(host: ModelHost, desired: readonly DesiredRoute[], more: object = {}) {
  const options: HostNetworkOptions = {
    host,
    records: host,
    clock: new StillClock(),
    beforeSteps: () => Promise.resolve(),
    onStatus: () => undefined,
    onWarning: () => undefined,
    ...more,
  };
  return new HostNetwork(options, { routes: desired });
}

async function applied(host: ModelHost, desired: readonly DesiredRoute[]) {
  await using network = kept(host, desired);
  return await network.apply();
}

async function tornDown(host: ModelHost, desired: readonly DesiredRoute[]): Promise<void> {
  await using network = kept(host, desired);
  await network.teardown();
}

const words = (routes: readonly StaticRoute[]): readonly string[] =>
  routes
    .map(({ destination, gateway, interface: through, metric }) =>
      [destination, gateway, through, metric].join(' '),
    )
    .sort();

const destination = fc.constantFrom('10.1.0.0/16', '10.2.0.0/16', '10.3.0.0/16', '10.1.2.0/24');
const gateway = fc.constantFrom('172.16.0.3', '172.16.0.4', '192.0.2.9');
const metric = fc.constantFrom(5, 256);
const desiredRoutes = fc.uniqueArray(fc.record({ destination, gateway, metric }), {
  selector: (route) => route.destination,
});
const foreignRoutes = fc.array(
  fc
    .record({ destination, gateway, metric })
    .map((route) => ({ ...route, interface: route.gateway.startsWith('172') ? 'e1' : 'e0' })),
);
const dialect = fc.constantFrom<Dialect>('linux', 'windows');

describe('the routes of a host, whatever is wanted and whoever else makes routes', () => {
  const world = fc.record({
    dialect,
    foreign: foreignRoutes,
    first: desiredRoutes,
    second: desiredRoutes,
  });
  const hostOf = ({ dialect: kind, foreign }: { dialect: Dialect; foreign: StaticRoute[] }) =>
    new ModelHost(kind, INTERFACES, [DEFAULT, ...foreign]);

  it('are changed by the first apply alone, and a teardown leaves the host as it was', () =>
    fc.assert(
      fc.asyncProperty(world, async ({ first, second, ...given }) => {
        const host = hostOf(given);
        const before = words(host.routes);
        await applied(host, first);
        await applied(host, second);
        const once = words(host.routes);
        for (const route of before) expect(once).toContain(route);
        const { changes } = host;
        await applied(host, second);
        expect([words(host.routes), host.changes]).toEqual([once, changes]);
        await tornDown(host, second);
        await tornDown(host, second);
        expect(words(host.routes)).toEqual(before);
        expect(host.recorded).toEqual([]);
      }),
      RUNS,
    ));

  it('end up the same when the process dies at any call', () =>
    fc.assert(
      fc.asyncProperty(world, fc.nat(12), async ({ first, second, ...given }, dies) => {
        const host = hostOf(given);
        const before = words(host.routes);
        await applied(host, first);
        const untouched = hostOf(given);
        await applied(untouched, first);
        await applied(untouched, second);

        host.callsLeft = dies;
        await applied(host, second);
        for (const route of before) expect(words(host.routes)).toContain(route);
        host.callsLeft = Infinity;
        await applied(host, second);
        expect(words(host.routes)).toEqual(words(untouched.routes));
        await tornDown(host, second);
        expect(words(host.routes)).toEqual(before);
      }),
      RUNS,
    ));

  it('belong to nobody without their record, so none is removed', () =>
    fc.assert(
      fc.asyncProperty(world, async ({ first, ...given }) => {
        const host = hostOf(given);
        await applied(host, first);
        const there = words(host.routes);
        host.recorded = [];
        await tornDown(host, []);
        expect(words(host.routes)).toEqual(there);
      }),
      RUNS,
    ));
});

describe('a host network', () => {
  const host = () => new ModelHost('linux', INTERFACES, [DEFAULT]);

  it('restores a route a second after it has heard of a change', async () => {
    const model = host();
    const clock = new StillClock();
    await using network = kept(model, [PEER], { clock });
    await network.apply();
    model.routes = model.routes.filter((route) => route.destination !== PEER.destination);
    for (const told of model.watchers) told();
    const restored = model.nextChange();
    expect(clock.end(1_000)).toBe(true);
    await restored;
    expect(model.routes.map((route) => route.destination)).toContain(PEER.destination);
  });

  it('looks again after a minute, whether it heard of anything or not', async () => {
    const model = host();
    const clock = new StillClock();
    await using network = kept(model, [PEER], { clock });
    await network.apply();
    model.routes = model.routes.filter((route) => route.destination !== PEER.destination);
    const restored = model.nextChange();
    while (!clock.end(60_000)) await new Promise(setImmediate);
    await restored;
    expect(model.routes.map((route) => route.destination)).toContain(PEER.destination);
  });

  it('says again that it cannot watch when it could meanwhile, and only then', async () => {
    const model = host();
    const clock = new StillClock();
    const told: string[] = [];
    let watches = 0;
    model.watch = (onChange) => {
      watches += 1;
      if (watches === 3) onChange();
      return Promise.reject(new Error('no events'));
    };
    const onWarning = (problem: string) => told.push(problem);
    await using _network = kept(model, [], { clock, onWarning });
    while (watches < 4) {
      for (const ms of clock.lengths) if (ms < 60_000) clock.end(ms);
      await new Promise(setImmediate);
    }
    expect(told).toEqual(Array(2).fill('cannot watch for route changes: no events'));
  });

  it.each(['apply', 'teardown'] as const)('ends %s by the signal of its caller', async (verb) => {
    await using network = kept(host(), [PEER]);
    const stop = new AbortController();
    const reason = new Error('enough');
    const waiting = network[verb]({ signal: stop.signal });
    stop.abort(reason);
    const aborted = { name: 'HostNetworkError', code: 'aborted', cause: reason };
    await expect(waiting).rejects.toMatchObject(aborted);
    await expect(network[verb]({ signal: stop.signal })).rejects.toMatchObject(aborted);
  });

  it('goes on with other routes when the system refuses one, and says which', async () => {
    const model = host();
    const other = { ...PEER, destination: '10.2.0.0/16' };
    model.denied.add(PEER.destination);
    await using network = kept(model, [PEER, other]);
    const status = await network.apply();
    expect(status).toMatchObject({ kind: 'partial', problems: ['10.1.0.0/16: not permitted'] });
    expect(status.standings.map(({ state }) => state)).toEqual(['failed', 'applied']);
    model.denied.clear();
    expect(await network.apply()).toMatchObject({ kind: 'settled', problems: [] });
  });

  it('keeps routes while its items cannot be listed, plans nothing then, and soon tries again', async () => {
    const model = host();
    const clock = new StillClock();
    const own = { subnet: '10.42.1.0/24', gateway: '10.42.1.1' };
    await using network = kept(model, [PEER], { clock });
    model.itemsError = new Error('HNS does not answer');
    network.want({ routes: [PEER], own, cluster: ['10.42.0.0/16'] });
    const problems = ['10.42.1.0/24: HNS does not answer'];
    expect(await network.apply()).toMatchObject({ kind: 'partial', problems });
    expect(model.routes).toHaveLength(2);
    await expect(network.plan()).rejects.toThrow('HNS does not answer');
    model.itemsError = undefined;
    while (!clock.lengths.some((ms) => ms < 10_000 && clock.end(ms)))
      await new Promise(setImmediate);
    while (network.status.kind !== 'settled') await new Promise(setImmediate);
    expect(model.item('bridge', 'wins-subnet')).toBeDefined();
  });

  it('says which route is still there although the system has removed it', async () => {
    const model = host();
    await using network = kept(model, [PEER]);
    await network.apply();
    model.remove = () => undefined;
    const problems = ['10.1.0.0/16: it was removed without effect'];
    expect(await network.teardown()).toMatchObject({ kind: 'partial', problems });
  });

  it('does nothing that could not be recorded before', async () => {
    const model = host();
    await using network = kept(model, [PEER], {
      beforeSteps: () => Promise.reject(new Error('the audit log is full')),
    });
    expect(await network.apply()).toMatchObject({ problems: ['the audit log is full'] });
    model.callsLeft = 0;
    await network.apply();
    expect(model.routes).toHaveLength(1);
  });

  it('does not own an identical route that somebody else made first', async () => {
    const model = host();
    const change = model.change.bind(model);
    model.change = (changes) => {
      model.add({ ...PEER, gateway: '172.16.0.3', interface: 'e1' });
      return change(changes);
    };
    await using network = kept(model, [PEER]);
    expect((await network.apply()).standings).toMatchObject([{ state: 'foreign' }]);
    await network.teardown();
    expect(model.routes).toHaveLength(2);
  });

  it('does not own such a route after a restart either', async () => {
    const model = new ModelHost('windows', INTERFACES, [DEFAULT]);
    const before = kept(model, []);
    await before.apply();
    const change = model.change.bind(model);
    model.change = (changes) => {
      model.add({ ...PEER, gateway: '172.16.0.3', interface: 'e1' });
      return change(changes);
    };
    before.want({ routes: [PEER] });
    await before.apply();
    await before.close();
    await tornDown(model, [PEER]);
    expect(model.routes).toHaveLength(2);
  });

  it('plans without a change, also how it would be taken down', async () => {
    const model = host();
    await using network = kept(model, [PEER]);
    await network.apply();
    const { changes } = model;
    expect((await network.plan()).steps).toEqual([]);
    expect((await network.plan({ isDown: true })).steps).toMatchObject([{ op: 'remove' }]);
    expect(model.changes).toBe(changes);
  });

  it('keeps the record of its routes when a plan was asked for before there was one', async () => {
    const model = host();
    let readLate: (record: readonly []) => void = () => undefined;
    const late = new Promise<readonly []>((resolve) => (readLate = resolve));
    const reads = [Promise.resolve([]), late];
    model.read = () => reads.shift() ?? late;
    await using network = kept(model, [PEER]);
    const planned = network.plan();
    expect(reads).toEqual([]);
    await network.apply();
    readLate([]);
    await planned;
    expect((await network.apply()).standings).toMatchObject([{ state: 'applied' }]);
    await network.teardown();
    expect(model.routes).toHaveLength(1);
  });

  it('stays down until it is applied, or something else is wanted', async () => {
    const model = host();
    await using network = kept(model, [PEER]);
    expect(await network.teardown()).toMatchObject({ isDown: true, standings: [] });
    network.want({ routes: [PEER] });
    expect(network.status.isDown).toBe(true);
    const peers = [{ id: 'b', subnet: '10.2.0.0/16', nextHop: '172.16.0.4' }];
    network.want({ routes: [PEER], peers }, { staysDown: true });
    expect((await network.plan()).steps).toEqual([]);
    network.want({ routes: [{ ...PEER, metric: 9 }] });
    expect((await network.apply()).standings).toMatchObject([{ state: 'applied', metric: 9 }]);
  });

  it('leaves the routes when it closes, and answers nothing then', async () => {
    const model = host();
    const network = kept(model, [PEER]);
    await network.apply();
    await network.close();
    await network.close();
    expect(model.routes).toHaveLength(2);
    await expect(network.apply()).rejects.toMatchObject({ code: 'closed' });
  });

  it('tells a status once', async () => {
    const told: HostNetworkStatus[] = [];
    await using network = kept(host(), [PEER], {
      onStatus: (status: HostNetworkStatus) => told.push(status),
    });
    await network.apply();
    await network.apply();
    expect(told.map(({ kind }) => kind)).toEqual(['settled']);
  });
});
