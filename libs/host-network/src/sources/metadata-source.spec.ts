import { LeapingClock } from '@wins/net/testing';
import { posixFileTrust } from '@wins/trusted-files';
import { once, EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { judgePeers } from '../plan/judge-peers.js';
import { MetadataServer } from '../testing/metadata-server.js';
import { lastGood } from './last-good.js';
import { metadataFeed, type MetadataFeedOptions } from './metadata-feed.js';
import { Source, type SourceOptions, type SourceStatus } from './source.js';

const LABELS = 'io.rancher.network.per_host_subnet';
const host = (uuid: string, number: number, more: object = {}, labels: object = {}) => ({
  uuid,
  name: uuid,
  agent_ip: `203.0.113.${number % 250}`,
  environment_uuid: 'e1',
  state: 'active',
  agent_state: null,
  memory: 8,
  labels: {
    [`${LABELS}.subnet`]: `10.${number >> 8}.${number & 255}.0/24`,
    [`${LABELS}.router_ip`]: `172.16.${number >> 8}.${number & 255}`,
    ...labels,
  },
  ...more,
});
const OWN = host('h-a', 1);
const peer = (id: string, number: number) => ({
  id,
  subnet: `10.0.${number}.0/24`,
  nextHop: `172.16.0.${number}`,
});
const TWO = [OWN, host('h-b', 2), host('h-c', 3)];
const PEERS = [peer('h-b', 2), peer('h-c', 3)];
const MANY = [OWN, ...Array.from({ length: 8 }, (_, index) => host(`h-${index}`, index + 10))];

describe("Rancher's metadata service as a source of peers", () => {
  let folder: string;
  let damaged: string[];
  const open: AsyncDisposable[] = [];
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-peers-'));
    damaged = [];
  });
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });
  const file = () => path.join(folder, 'state', 'peers.json');
  const lastGoodOf = (origin = 'metadata e1 h-a') =>
    lastGood({
      path: file(),
      origin,
      trust: posixFileTrust(),
      onDamaged: (where) => damaged.push(where),
    });
  const start = async (hosts: unknown) => {
    const server = await MetadataServer.start(hosts);
    open.push(server);
    return server;
  };

  function follow(
    server: MetadataServer | string,
    options: Partial<MetadataFeedOptions> = {},
    more: Partial<SourceOptions> = {},
  ) {
    const clock = new LeapingClock();
    const changes = new EventEmitter();
    const seen: SourceStatus[] = [];
    const source: Source = new Source({
      feed: metadataFeed({
        address: typeof server === 'string' ? server : server.address,
        hostUuid: 'h-a',
        environmentUuid: 'e1',
        clock,
        ...options,
      }),
      lastGood: lastGoodOf(),
      clock,
      random: () => 0.5,
      onChange: () =>
        // Deferred, because the first call comes before `source` is assigned.
        queueMicrotask(() => {
          seen.push(source.status);
          changes.emit('change');
        }),
      onWarning: (problem) => {
        throw new Error(problem);
      },
      ...more,
    });
    open.push(source);
    const until = async (wanted: (status: SourceStatus) => boolean) => {
      while (!wanted(source.status)) await once(changes, 'change');
      return source.status;
    };
    return { source, clock, seen, until };
  }
  const isCurrent = ({ state }: SourceStatus): boolean => state === 'current';

  it('has the hosts of the environment, by router_ip, else by the address that is nearest to it', async () => {
    const server = await start([
      host('h-d', 4, {}, { [`${LABELS}.router_ip`]: null }),
      host(
        'h-c',
        3,
        {},
        { [`${LABELS}.router_ip`]: '', [`${LABELS}.override_agent_ip`]: '172.16.0.3' },
      ),
      host('h-x', 9, { environment_uuid: 'e2' }),
      OWN,
      { ...host('h-b', 2), of: { a: ['newer', 'version'] } },
    ]);
    const { until } = follow(server, { subnet: '10.0.1.0/24', routerIp: '172.16.0.1' });
    expect(await until(isCurrent)).toEqual({
      state: 'current',
      version: 'v1',
      problem: '',
      isDoubted: false,
      ageMs: 0,
      sinceMs: 0,
      items: [...PEERS, { ...peer('h-d', 4), nextHop: '203.0.113.4' }],
      skipped: [],
      skippedCount: 0,
      isLimited: false,
    });
  });

  it('skips an element that it cannot read, and no other', async () => {
    const server = await start([
      ...TWO,
      7,
      null,
      'h-z',
      [],
      host('h-e', 5, {}, { [`${LABELS}.subnet`]: 10 }),
      host('h-f', 6, {}, { [`${LABELS}.subnet`]: 'x'.repeat(65) }),
      host('h-g', 7, { labels: null }),
      host('h-h', 8, {}, { [`${LABELS}.router_ip`]: 7 }),
      host('h-i', 9, { agent_ip: null }, { [`${LABELS}.router_ip`]: null }),
      host('../h', 10),
      host('h-j', 11, { name: 'x'.repeat(70_000) }),
      host('h-k', 12),
      host('h-k', 13),
    ]);
    const { items, skipped, skippedCount } = await follow(server).until(isCurrent);
    expect(items).toEqual(PEERS);
    expect(skipped.map(({ id, code }) => `${id}: ${code}`)).toEqual([
      ': badElement',
      ': badElement',
      ': badElement',
      ': badElement',
      'h-e: badSubnet',
      'h-f: badSubnet',
      'h-g: noSubnet',
      'h-h: badNextHop',
      'h-i: noNextHop',
      ': badId',
      ': badElement',
      'h-k: repeatedId',
    ]);
    expect(skippedCount).toBe(skipped.length);
  });

  it('is read again a second after another version, and once for all that come meanwhile', async () => {
    const server = await start(TWO);
    const { until, clock } = follow(server);
    await until(isCurrent);
    server.publish([OWN, host('h-b', 2)]);
    expect((await until(({ items }) => items.length === 1)).items).toEqual([peer('h-b', 2)]);
    expect(clock.waits).toEqual([1000]);
  });

  it('reports the same peers while 10 versions change only addresses of agents, and peers that share a next hop', async () => {
    const server = await start(TWO);
    const { source, seen, until } = follow(server);
    await until(isCurrent);
    const sharing = { ...peer('h-d', 4), nextHop: '172.16.0.3' };
    for (let count = 1; count <= 10; count += 1) {
      const agent = { agent_ip: `198.51.100.${count}`, primary_ip: `198.51.100.${count}` };
      const d = host('h-d', 4, agent, { [`${LABELS}.router_ip`]: '172.16.0.3' });
      const hosts = [OWN, host('h-b', 2, agent), host('h-c', 3, agent), d];
      server.publish(count % 2 === 0 ? hosts : hosts.reverse());
      while (source.status.version !== server.version) await new Promise(setImmediate);
      const { items, duplicates } = source.status;
      expect(items).toEqual([...PEERS, sharing]);
      expect(duplicates).toEqual([{ id: 'h-d', of: 'h-c', isStale: false }]);
      // Two subnets through one next hop do not conflict.
      expect(judgePeers(items)).toEqual({ accepted: items, rejected: [] });
    }
    // Only the first version, which added h-d, was reported as a change.
    expect(seen.filter(({ items }) => items.length === 3)).toHaveLength(1);
  });

  it('is queried once a second while its version changes with each query', async () => {
    const server = await start(TWO);
    server.fault = () => {
      server.publish();
      return false;
    };
    const { clock, until } = follow(server);
    await until(isCurrent);
    while (server.asked.length < 60) await new Promise(setImmediate);
    const reads = server.asked.filter((url) => url.endsWith('/hosts')).length;
    const seconds = clock.waits.length;
    expect(new Set(clock.waits)).toEqual(new Set([1000]));
    expect(reads).toBeLessThanOrEqual(seconds + 1);
  });

  const half =
    (wanted: string, body: string): MetadataServer['fault'] =>
    ({ url = '' }, response) => {
      if (!url.endsWith(wanted)) return false;
      response.end(body);
      return true;
    };
  const drips = new Set<NodeJS.Timeout>();
  afterEach(() => {
    for (const timer of drips) clearInterval(timer);
    drips.clear();
  });
  it.each<[string, (server: MetadataServer) => unknown, RegExp]>([
    ['refuses', (server) => server[Symbol.asyncDispose](), /ECONNREFUSED|refused/],
    ['hangs', (server) => server.break(() => undefined), /did not answer within 100 ms/],
    [
      'has no answers yet',
      (server) => server.break((_request, response) => void response.writeHead(404).end('{}')),
      /status 404/,
    ],
    ['has no hosts', (server) => server.publish(null), /this host is not among them/],
    ['has an empty list', (server) => server.publish([]), /this host is not among them/],
    ['has other hosts alone', (server) => server.publish(TWO.slice(1)), /not among them/],
    [
      'sends half of the list',
      (server) => server.break(half('/hosts', JSON.stringify(TWO).slice(0, -9))),
      /not a complete JSON/,
    ],
    [
      'sends no JSON',
      (server) => server.break(half('/hosts', '[{"uuid":}]')),
      /not a complete JSON/,
    ],
    [
      'ends the list with a brace',
      (server) => server.break(half('/hosts', `${JSON.stringify(TWO).slice(0, -1)}}`)),
      /not a complete JSON/,
    ],
    ['sends text', (server) => server.break(half('/hosts', 'uuid\nname')), /not a complete JSON/],
    [
      'answers another host',
      (server) => {
        server.self = 'h-b';
        server.publish();
      },
      /the host is "h-b"; wanted "h-a"/,
    ],
    [
      'is of another environment',
      (server) => server.publish([{ ...OWN, environment_uuid: 'e2' }, ...TWO.slice(1)]),
      /the environment is "e2"/,
    ],
    [
      'has another subnet for this host',
      (server) => server.publish([host('h-a', 1, {}, { [`${LABELS}.subnet`]: '10.0.9.0/24' })]),
      /the subnet is "10\.0\.9\.0\/24"; wanted "10\.0\.1\.0\/24"/,
    ],
    [
      'says that it sends 1 GiB',
      (server) =>
        server.break((_request, response) => {
          response.writeHead(200, { 'content-length': 2 ** 30 }).flushHeaders();
        }),
      /found 1073741824 bytes/,
    ],
    [
      'sends without an end',
      (server) =>
        server.break((request, response) => {
          if (!(request.url ?? '').endsWith('/hosts')) return false;
          const part = Buffer.alloc(65_536, 'a');
          const more = (): void => {
            while (response.writable && response.write(part));
          };
          response.on('drain', more).write('[{"uuid":"');
          more();
          return true;
        }),
      /found more than 33554432 bytes/,
    ],
    [
      'drips',
      (server) =>
        server.break((request, response) => {
          if (!(request.url ?? '').endsWith('/hosts')) return false;
          response.write('[');
          drips.add(setInterval(() => response.write(' '), 5));
          return true;
        }),
      /had not ended within 200 ms/,
    ],
  ])(
    'keeps the last good peers while the service %s, and is degraded after 2 min',
    async (what, breakIt, problem) => {
      const server = await start(TWO);
      const { until, seen, clock } = follow(server, {
        subnet: '10.0.1.0/24',
        // Short only where the service must exceed it, because an answer may be slow on a busy machine.
        limits: {
          answerMs: what === 'hangs' ? 100 : 30_000,
          totalMs: what === 'drips' ? 200 : 30_000,
        },
      });
      await until(isCurrent);
      await breakIt(server);
      await until(({ state }) => state === 'stale');
      // The next two tries, after 1 and 2 s, fail too.
      clock.advance(118_000);
      const status = await until(({ state }) => state === 'degraded');
      expect(status.problem).toMatch(problem);
      expect(status.items).toEqual(PEERS);
      expect(status.ageMs).toBeGreaterThanOrEqual(120_000);
      expect(seen.some(({ state }) => state === 'stale')).toBe(true);
    },
  );

  it('tries again after 1, 2, 4 … 60 s, and is well again with the first answer', async () => {
    const server = await start(TWO);
    server.break((_request, response) => void response.writeHead(500).end());
    const { until, clock } = follow(server);
    await until(({ state }) => state === 'degraded');
    server.break(undefined);
    await until(isCurrent);
    expect(clock.waits.slice(0, 7)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]);
  });

  it('takes 1,024 of 50,000 hosts, the first by uuid, in whatever order they come', async () => {
    const hosts = Array.from({ length: 50_000 }, (_, index) =>
      host(`h-${String((index * 7919) % 50_000).padStart(5, '0')}`, index),
    );
    const { until } = follow(await start([...hosts, OWN]));
    const { items, isLimited } = await until(isCurrent);
    expect(isLimited).toBe(true);
    expect(items).toHaveLength(1024);
    expect(items.map(({ id }) => id)).toEqual(
      Array.from({ length: 1024 }, (_, index) => `h-${String(index).padStart(5, '0')}`),
    );
  });

  it('accepts that most hosts are gone only if this is confirmed 10 s later', async () => {
    const server = await start(MANY);
    const { until, seen, clock } = follow(server);
    await until(isCurrent);
    server.publish([OWN]);
    await until(({ items }) => items.length === 0);
    const doubted = seen.filter(({ isDoubted }) => isDoubted);
    expect(doubted.map(({ items }) => items.length)).toEqual([8]);
    expect(clock.waits).toEqual([1000, 10_000]);
  });

  it('drops nothing when they are back by then, and three hosts at once', async () => {
    const server = await start(MANY);
    const { until, seen } = follow(server);
    await until(isCurrent);
    let reads = 0;
    server.fault = ({ url = '' }) => {
      if (url.endsWith('/hosts') && (reads += 1) === 2) server.hosts = MANY;
      return false;
    };
    server.publish([OWN]);
    await until(({ isDoubted }) => isDoubted);
    await until(({ isDoubted }) => !isDoubted);
    expect(seen.every(({ items, state }) => state === 'starting' || items.length === 8)).toBe(true);
    server.publish(MANY.slice(0, -3));
    await until(({ items }) => items.length === 5);
    expect(seen.filter(({ isDoubted }) => isDoubted)).toHaveLength(1);
  });

  it('has what it told last after a start, and says that it has not spoken', async () => {
    const server = await start(TWO);
    const first = follow(server);
    await first.until(isCurrent);
    expect(first.source.hasSpoken).toBe(true);
    await first.source.close();
    expect(statSync(file()).mode & 0o777).toBe(0o600);

    server.break(() => undefined);
    const second = follow(server, { limits: { answerMs: 100 } });
    expect((await second.until(({ state }) => state === 'stale')).items).toEqual(PEERS);
    expect(second.source.hasSpoken).toBe(false);
    server.break(undefined);
    await second.until(isCurrent);
    expect(second.source.hasSpoken).toBe(true);
  });

  it('stores its answer at the next one when it could not before', async () => {
    const server = await start(TWO);
    const warnings: string[] = [];
    const kept = lastGoodOf();
    let isFull = true;
    const { until } = follow(
      server,
      {},
      {
        lastGood: {
          read: () => kept.read(),
          write: (items) =>
            isFull ? Promise.reject(new Error('the disk is full')) : kept.write(items),
        },
        onWarning: (problem) => warnings.push(problem),
      },
    );
    await until(isCurrent);
    expect(warnings).toEqual(['cannot write the last good peers: the disk is full']);
    isFull = false;
    server.publish();
    while (!server.asked.some((url) => url.includes(`value=${server.version}`)))
      await new Promise(setImmediate);
    expect(await lastGoodOf().read()).toEqual(PEERS);
  });

  it.each([
    '',
    'null',
    '{"format":1',
    '{"format":2,"origin":"metadata e1 h-a","peers":[]}',
    '{"format":1,"origin":"metadata e1 h-a","peers":[{"id":"h-b","subnet":7,"nextHop":"x"}]}',
    '{"format":1,"origin":"metadata e1 h-a","peers":[{"id":"../b","subnet":"10.1.0.0/16","nextHop":"10.0.0.1"}]}',
  ])('ignores a stored answer that is invalid: %s', async (content) => {
    mkdirSync(path.dirname(file()));
    writeFileSync(file(), content);
    expect([await lastGoodOf().read(), damaged]).toEqual([undefined, [file()]]);
  });

  it('ignores the stored answer of another service, environment or host', async () => {
    await lastGoodOf().write(PEERS);
    expect(await lastGoodOf().read()).toEqual(PEERS);
    expect(readFileSync(file(), 'utf8')).toMatch(/"h-b"/);
    expect(await lastGoodOf('metadata e2 h-a').read()).toBeUndefined();
  });
});
