import { LeapingClock } from '@wins/net/testing';
import { EventEmitter, once } from 'node:events';
import { judgePeers } from '../plan/judge-peers.js';
import { nodeFeed, type NodeFeedOptions, type NodeListener, type NodeReader } from './node-feed.js';
import { Source, type SourceStatus } from './source.js';

const node = (name: string, number: number, more: object = {}) => ({
  metadata: { name, uid: `uid-${name}` },
  spec: { podCIDR: `10.42.${number}.0/24`, podCIDRs: [`10.42.${number}.0/24`] },
  status: {
    addresses: [
      { type: 'Hostname', address: name },
      { type: 'InternalIP', address: `172.16.0.${number}` },
    ],
  },
  ...more,
});
const peer = (id: string, number: number) => ({
  id,
  subnet: `10.42.${number}.0/24`,
  nextHop: `172.16.0.${number}`,
});

/** An API server in memory, which tells of nodes, their changes and its failures as the test says. */
class Cluster implements NodeReader {
  nodes: unknown[];
  reads = 0;
  problem: Error | undefined;
  readonly #told = new EventEmitter();

  constructor(...nodes: unknown[]) {
    this.nodes = nodes;
  }

  async follow<Item>(
    { read, onAll, onChange, onContact, onState }: NodeListener<Item>,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<void> {
    const all = (): void => {
      this.reads += 1;
      onContact();
      onAll(
        this.nodes.map((one) => read(one)),
        `v${this.reads}`,
      );
    };
    const tell = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: unknown): void => {
      onContact();
      onChange(type, read(object));
    };
    all();
    onState({ kind: 'connected' });
    this.#told.on('event', tell).on('state', onState).on('all', all);
    this.#told.emit('watched');
    await once(this.#told, 'end', { signal }).catch(() => undefined);
    this.#told.off('event', tell).off('state', onState).off('all', all);
  }

  async watched(): Promise<void> {
    while (this.#told.listenerCount('event') === 0) await once(this.#told, 'watched');
  }

  tell(type: string, object: unknown): void {
    this.#told.emit('event', type, object);
  }

  fail(error: Error): void {
    this.#told.emit('state', { kind: 'waiting', error });
  }

  recover(): void {
    this.#told.emit('all');
    this.#told.emit('state', { kind: 'connected' });
  }
}

describe('the nodes of a cluster as a source of peers', () => {
  const open: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
  });
  function follow(cluster: Cluster, options: Partial<NodeFeedOptions> = {}) {
    const clock = new LeapingClock();
    const changes = new EventEmitter();
    const seen: SourceStatus[] = [];
    const source: Source = new Source({
      feed: nodeFeed({
        reader: cluster,
        ownAddresses: () => new Set(['172.16.0.1', '127.0.0.1']),
        hostName: 'A',
        clock,
        ...options,
      }),
      lastGood: { read: () => Promise.resolve(undefined), write: () => Promise.resolve() },
      clock,
      random: () => 0.5,
      onChange: () =>
        queueMicrotask(() => {
          seen.push(source.status);
          changes.emit('change');
        }),
      onWarning: () => undefined,
    });
    open.push(source);
    const until = async (wanted: (status: SourceStatus) => boolean) => {
      while (!wanted(source.status)) await once(changes, 'change');
      return source.status;
    };
    return { clock, seen, source, until };
  }
  const isCurrent = ({ state }: SourceStatus): boolean => state === 'current';

  it('are all but the own one, by podCIDR and InternalIP of IPv4', async () => {
    const cluster = new Cluster(
      node('c', 3, { spec: { podCIDR: 'fd00::/64', podCIDRs: ['fd00::/64', '10.42.3.0/24'] } }),
      node('a', 1),
      node('b', 2, {
        status: {
          addresses: [
            { type: 'ExternalIP', address: '203.0.113.2' },
            { type: 'InternalIP', address: 'fd01::2' },
            { type: 'InternalIP', address: '172.16.0.2' },
          ],
        },
      }),
      node('d', 4, { spec: {} }),
      node('e', 5, { status: null }),
      {},
      null,
    );
    const { until } = follow(cluster, { subnet: '10.42.1.0/24' });
    const { items, skipped, version } = await until(isCurrent);
    expect(version).toBe('v1');
    expect(items).toEqual([peer('b', 2), peer('c', 3)]);
    expect(skipped.map(({ id, code }) => `${id}: ${code}`)).toEqual([
      'd: noSubnet',
      'e: noNextHop',
      ': badId',
    ]);
  });

  it('come and go by a watch, many at once, without another list', async () => {
    const cluster = new Cluster(node('a', 1), node('b', 2));
    const { until, clock } = follow(cluster);
    await until(isCurrent);
    await cluster.watched();
    cluster.tell('MODIFIED', { ...node('b', 2), kind: 'Node' });
    cluster.tell('ADDED', node('c', 3));
    cluster.tell('ADDED', node('d', 4));
    cluster.tell('DELETED', node('b', 2));
    const { items } = await until((status) => status.items.length === 2);
    expect(items).toEqual([peer('c', 3), peer('d', 4)]);
    expect([cluster.reads, clock.waits]).toEqual([1, [1000]]);
  });

  it('are followed although others have the addresses of this host or of each other', async () => {
    const status = (number: number, ready: string) => ({
      ...node('', number).status,
      conditions: [{ type: 'MemoryPressure' }, { type: 'Ready', status: ready }, null],
    });
    const created = (name: string, day: number) => ({
      metadata: { name, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
    });
    const old = node('x', 3, { ...created('x', 1), status: status(2, 'Unknown') });
    const cluster = new Cluster(
      node('a', 1, { ...created('a', 2), status: status(1, 'True') }),
      node('f', 7, { ...created('f', 1), status: status(1, 'Unknown') }),
      node('b', 2, { ...created('b', 2), status: status(2, 'True') }),
      old,
    );
    const { until, source } = follow(cluster, { subnet: '10.42.1.0/24' });
    const { items, duplicates } = await until(isCurrent);
    const twin = { ...peer('x', 3), nextHop: '172.16.0.2' };
    expect(items).toEqual([peer('b', 2), twin]);
    expect(judgePeers(items)).toEqual({ accepted: items, rejected: [] });
    expect(duplicates).toEqual([
      { id: 'f', of: 'a', isStale: true },
      { id: 'x', of: 'b', isStale: true },
    ]);
    await cluster.watched();
    cluster.tell('ADDED', node('c', 4));
    await until((seen) => seen.items.length === 3);
    cluster.tell('MODIFIED', { ...old, status: status(2, 'True') });
    while (source.status.duplicates?.[1]?.isStale !== false) await new Promise(setImmediate);
    cluster.tell('DELETED', old);
    await until((seen) => seen.items.length === 2);
    expect(source.status.duplicates).toEqual([{ id: 'f', of: 'a', isStale: true }]);
  });

  it.each<[string, Cluster, RegExp]>([
    ['none has an address of this host', new Cluster(node('b', 2)), /no node has an address/],
    ['there is none', new Cluster(), /no node has an address of this host/],
    [
      'its own has another subnet',
      new Cluster(node('a', 7, { status: node('a', 1).status })),
      /subnet of this node is not 10\.42\.1\.0\/24/,
    ],
    [
      'the one of its name has another subnet',
      new Cluster(node('f', 1), node('a', 7, { status: node('a', 1).status })),
      /subnet of this node is not 10\.42\.1\.0\/24/,
    ],
  ])('are not believed when %s', async (_what, cluster, problem) => {
    const { until } = follow(cluster, { subnet: '10.42.1.0/24' });
    const status = await until(({ state }) => state === 'degraded');
    expect([status.items, status.problem]).toEqual([[], expect.stringMatching(problem)]);
  });

  it.each([-1, 1])('have the same age when somebody sets the clock by %i day', async (days) => {
    const cluster = new Cluster(node('a', 1), node('b', 2));
    const { source, until, clock } = follow(cluster);
    await until(isCurrent);
    await cluster.watched();
    const now = clock.now();
    clock.now = () => new Date(now.getTime() + days * 86_400_000);
    cluster.fail(new Error('it is gone'));
    expect(await until(({ problem }) => problem !== '')).toMatchObject({
      state: 'stale',
      ageMs: 0,
      sinceMs: 0,
    });
    clock.advance(120_000);
    expect(source.status).toMatchObject({ state: 'degraded', ageMs: 120_000 });
  });

  it('stay when the API server fails, and are current again only when it can be followed', async () => {
    const cluster = new Cluster(node('a', 1), node('b', 2));
    const { until, clock } = follow(cluster);
    await until(isCurrent);
    await cluster.watched();
    cluster.fail(new Error('it is gone'));
    const isStale = ({ state }: SourceStatus): boolean => state === 'stale';
    expect(await until(isStale)).toMatchObject({ problem: 'it is gone', items: { length: 1 } });
    // A list that succeeds does not mean that a watch does.
    cluster.tell('ADDED', node('c', 3));
    expect(await until(({ items }) => items.length === 2)).toMatchObject({ state: 'stale' });
    clock.advance(120_000);
    cluster.fail(new Error('it is still gone'));
    await until(({ state }) => state === 'degraded');
    cluster.recover();
    await until(isCurrent);
  });

  it('go for the most part only when the API server says so twice', async () => {
    const cluster = new Cluster(...[1, 2, 3, 4, 5, 6].map((at) => node(`n-${at}`, at)));
    const { until, seen, clock } = follow(cluster);
    await until(isCurrent);
    await cluster.watched();
    cluster.nodes = [node('n-1', 1)];
    cluster.recover();
    await until(({ items }) => items.length === 0);
    expect(seen.filter(({ isDoubted }) => isDoubted)).toHaveLength(1);
    expect(clock.waits.at(-1)).toBe(10_000);
  });

  it('are read again when a watch tells that most are gone', async () => {
    const cluster = new Cluster(...[1, 2, 3, 4, 5, 6].map((at) => node(`n-${at}`, at)));
    const { until, seen } = follow(cluster);
    await until(isCurrent);
    await cluster.watched();
    for (const at of [2, 3, 4, 5]) cluster.tell('DELETED', node(`n-${at}`, at));
    await until(({ isDoubted }) => isDoubted);
    await until(({ isDoubted }) => !isDoubted);
    expect(seen.every(({ items, state }) => state === 'starting' || items.length === 5)).toBe(true);
    expect(cluster.reads).toBe(2);
  });

  it('are read again when a watch shows more than 10,000, which the reader then refuses', async () => {
    const cluster = new Cluster(node('a', 1), node('b', 2));
    const { until, source } = follow(cluster);
    await until(isCurrent);
    await cluster.watched();
    for (let at = 0; at < 10_000; at += 1) cluster.tell('ADDED', node(`n-${at}`, 3));
    while (cluster.reads < 2) await new Promise(setImmediate);
    await until(isCurrent);
    expect(source.status.items).toEqual([peer('b', 2)]);
  });

  it('are judged again when this host gets its address, without a request', async () => {
    const cluster = new Cluster(node('a', 1), node('b', 2));
    let own: string[] = [];
    const { until } = follow(cluster, { ownAddresses: () => new Set(own) });
    await until(({ problem }) => problem.includes('no node has an address of this host'));
    own = ['172.16.0.1'];
    expect((await until(isCurrent)).items).toEqual([peer('b', 2)]);
    expect(cluster.reads).toBe(1);
  });
});
