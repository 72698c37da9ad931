import { FakeClock } from '@wins/base/testing';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { ApiRequest } from '../testing/index.js';
import type { SimulatedFault } from '../testing/simulated-api.js';
import { SimulatedFollower } from '../testing/simulated-follower.js';
import { closeStores, serve, stops } from '../testing/store-harness.js';
import { systemClock } from '@wins/time';
import { parseConnectionInfo } from './connecting-store.js';
import { nodeReader, type NodeReaderOptions } from './node-reader.js';
import type { FollowListener } from './object-follower.js';

afterEach(closeStores);

const MINUTE_MS = 60_000;
const node = (name: string) => ({ metadata: { name } });
const nameOf = (object: unknown): string => (object as ReturnType<typeof node>).metadata.name;

describe('the nodes of a cluster', () => {
  const open = (info: () => string, options: Partial<NodeReaderOptions> = {}) => {
    const names = new Set<string>();
    const problems: string[] = [];
    let told = (): void => undefined;
    const reader = nodeReader({
      clock: systemClock,
      readInfo: () => Promise.resolve(parseConnectionInfo(info(), '/info')),
      strictTlsOf: () => true,
      environment: {},
      random: () => 0,
      ...options,
    });
    const listener: FollowListener<string> = {
      read: nameOf,
      onAll: (all) => {
        names.clear();
        for (const name of all) names.add(name);
        told();
      },
      onChange: (type, name) => {
        if (type === 'DELETED') names.delete(name);
        else names.add(name);
        told();
      },
      onContact: () => undefined,
      onState: (state) => {
        if (state.kind === 'waiting') problems.push(state.error.message);
        told();
      },
    };
    const stop = new AbortController();
    const ended = reader.follow(listener, { signal: stop.signal });
    stops.push(async () => {
      stop.abort();
      await ended;
    });
    const until = async (isReached: () => boolean): Promise<void> => {
      while (!isReached()) await new Promise<void>((resolve) => (told = resolve));
    };
    return { names, problems, until };
  };

  it('are read page by page, with the token of the node, and then watched', async () => {
    const server = await serve();
    for (let at = 0; at < 120; at += 1) server.nodes.put(node(`n-${at}`));
    const { names, until } = open(() => server.connectionInfo());
    await server.nextRequest(({ query }) => query.get('watch') === 'true');
    server.nodes.put(node('new'));
    server.nodes.remove('n-7');
    await until(() => names.has('new') && !names.has('n-7'));
    expect(names.size).toBe(120);
    const asked = server.requests.map(({ query }) => query.get('continue') ?? query.get('watch'));
    expect(asked).toEqual([null, '50', '100', 'true']);
    const [first] = server.requests;
    expect(first?.headers.authorization).toBe(`Bearer ${server.token}`);
  });

  it('are followed with the new token when the connection file was replaced', async () => {
    const server = await serve();
    server.nodes.put(node('a'));
    let info = server.connectionInfo({ token: 'old-token' });
    const { names, problems, until } = open(() => info);
    await until(() => problems.length > 0);
    info = server.connectionInfo();
    await until(() => names.has('a'));
    expect(problems[0]).toMatch(/answered 401/);
  });

  it('are looked for again at once when their file changes while it is read', async () => {
    let look = (): void => undefined;
    const reads: string[] = [];
    await new Promise<void>((resolve) => {
      open(() => '', {
        clock: new FakeClock(),
        watchInfo: (callback) => {
          look = callback;
          return { [Symbol.dispose]: () => undefined };
        },
        readInfo: () => {
          if (reads.push('read') === 1) look();
          else resolve();
          return Promise.reject(new Error('half of it is written'));
        },
      });
    });
    expect(reads).toEqual(['read', 'read']);
  });

  it('leave no connection behind when the connection file was replaced', async () => {
    const server = await serve();
    server.nodes.put(node('a'));
    const closed: Promise<unknown>[] = [];
    server.fault(({ headers }, { socket }, proceed) => {
      // Keeps the server from closing an idle connection.
      if (socket !== null) (socket as unknown as { server: Server }).server.keepAliveTimeout = 0;
      if (socket !== null && headers.authorization === 'Bearer old-token')
        closed.push(once(socket, 'close'));
      proceed();
    });
    let info = server.connectionInfo({ token: 'old-token' });
    const { names, problems, until } = open(() => info);
    await until(() => problems.length > 0);
    info = server.connectionInfo();
    await until(() => names.has('a'));
    expect(closed).toHaveLength(2);
    await Promise.all(closed);
  });

  it.each<[string, (request: ApiRequest) => object, RegExp]>([
    ['it is no list', () => ({ kind: 'Status' }), /found no NodeList/],
    [
      'pages do not end',
      () => ({ kind: 'NodeList', items: [], metadata: { continue: 'x' } }),
      /more than 200 pages/,
    ],
    [
      'there are too many',
      () => ({ kind: 'NodeList', items: Array.from({ length: 10_001 }, () => node('a')) }),
      /found 10001 objects or more; wanted at most 10000 for the nodes/,
    ],
    ['there is no version', () => ({ kind: 'NodeList', metadata: {} }), /found no resourceVersion/],
  ])('cannot be read when %s', async (_what, bodyOf, problem) => {
    const server = await serve({ plain: true });
    server.fault((request, response) => response.end(JSON.stringify(bodyOf(request))));
    const { problems, until } = open(() => server.connectionInfo(), { strictTlsOf: () => false });
    await until(() => problems.length > 0);
    expect(problems[0]).toMatch(problem);
  });
});

const WATCH_FAULTS: [string, SimulatedFault][] = [
  ['is forbidden', { kind: 'refused', status: 403 }],
  ['is refused by 500', { kind: 'refused', status: 500 }],
  ['is refused by 429 for 10 s', { kind: 'refused', status: 429, retryAfterS: 10 }],
  ['is too old by 410', { kind: 'refused', status: 410 }],
  ['is reset', { kind: 'reset' }],
  ['ends at once', { kind: 'endsAtOnce' }],
  ['is cut after a second', { kind: 'cutAfter', ms: 1_000 }],
  ['is cut after 20 s', { kind: 'cutAfter', ms: 20_000 }],
  ['is silent', { kind: 'silent' }],
];

describe.each(['nodes', 'secret'] as const)('following %s', (kind) => {
  const chances = [0, 0.5, 0.999];
  let one: SimulatedFollower;
  beforeEach(() => {
    one = new SimulatedFollower(kind);
  });
  afterEach(() => one.close());

  describe.each(chances)('with the chance %p', (random) => {
    // An account that may not watch the Secret is not one of an agent.
    it.each(WATCH_FAULTS.slice(kind === 'secret' ? 1 : 0))(
      'lists at most four times in the first minute and then twice a minute when each watch %s, and notices changes',
      async (_what, fault) => {
        const { api, time } = one;
        // A server without initial events, so that the Secret is read by lists as well.
        api.watchList = false;
        api.faultOf = ({ verb }) => (verb === 'watch' ? fault : undefined);
        one.start(random);
        const noticed: number[] = [];
        for (let change = 0; change < 20; change += 1) {
          await time.run(17_000);
          one.change(`value ${change}`);
          noticed.push(await one.noticeMs(`value ${change}`, 10 * MINUTE_MS));
        }
        // The Secret waits longer for a silent watch, because bookmarks come only once a minute.
        const mostMs = kind === 'secret' && fault.kind === 'silent' ? 100_000 : 45_000;
        expect(Math.max(...noticed)).toBeLessThanOrEqual(mostMs);
        expect(one.lists(0)).toBeLessThanOrEqual(4);
        expect(one.busyMinutes(2)).toEqual([]);
      },
    );

    it.each<[string, SimulatedFault]>(WATCH_FAULTS.slice(0, 6))(
      'lists as seldom when each list fails likewise: %s',
      async (_what, fault) => {
        const { api, time } = one;
        api.faultOf = () => fault;
        one.start(random);
        await time.run(20 * MINUTE_MS);
        expect(one.lists(0)).toBeLessThanOrEqual(4);
        expect(one.busyMinutes(2)).toEqual([]);
      },
    );

    it.each([30_000, 190_000, 3_600_000])(
      'notices soon that a server came back after %i ms, and what changed meanwhile',
      async (awayMs) => {
        const { api, time } = one;
        one.start(random);
        await time.run(MINUTE_MS);
        api.isDown = true;
        api.cut();
        await time.run(awayMs);
        one.change('new');
        api.isDown = false;
        const mostMs = kind === 'nodes' ? 15_000 : 45_000;
        expect(await one.noticeMs('new', 10 * MINUTE_MS)).toBeLessThanOrEqual(mostMs);
        // The server still supports initial events.
        if (kind === 'secret') expect(api.requests.some(({ verb }) => verb === 'list')).toBe(false);
      },
    );
  });

  it('reads a cluster anew that was restored from a backup, although its versions went back', async () => {
    const { api, time } = one;
    one.start(0.5);
    await time.run(MINUTE_MS);
    const backup = api.secrets.backup();
    const { version } = api.nodes;
    for (let change = 0; change < 5; change += 1) one.change(`lost ${change}`);
    await time.run(MINUTE_MS);
    expect(one.known.get('one')).toBe('lost 4');
    api.secrets.restore(backup);
    api.nodes.restore(version, [{ metadata: { name: 'one', value: 'first' } }]);
    api.cut();
    expect(await one.noticeMs('first', 10 * MINUTE_MS)).toBeLessThanOrEqual(60_000);
  });

  it.each([true, false])(
    'reports no failure of a server that sends bookmarks only (initial events: %p)',
    async (watchList) => {
      one.api.watchList = watchList;
      one.start(0.5);
      await one.time.run(60 * MINUTE_MS);
      expect(one.problems).toEqual([]);
    },
  );

  it('sends no request but watches while bookmarks arrive', async () => {
    const { api, time } = one;
    if (kind === 'nodes') return;
    one.start(0.5);
    await time.run(MINUTE_MS);
    api.requests.splice(0);
    await time.run(60 * MINUTE_MS);
    expect(api.requests.every(({ verb }) => verb === 'watch')).toBe(true);
    expect(api.requests.length).toBeLessThanOrEqual(12);
  });
});
