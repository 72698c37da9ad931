import { LeapingClock } from '@wins/net/testing';
import { EventEmitter, once } from 'node:events';
import { MetadataServer } from '../testing/metadata-server.js';
import { containerFeed, type DesiredPort } from './container-feed.js';
import { Source, type SourceStatus } from './source.js';

const container = (uuid: string, ports: unknown, more: object = {}) => ({
  uuid,
  name: uuid,
  host_uuid: 'h-a',
  environment_uuid: 'e1',
  state: 'running',
  primary_ip: '10.42.1.10',
  ports,
  labels: {},
  links: null,
  ...more,
});
const tcp = (id: string, listen: string, to: string): DesiredPort => ({
  id,
  proto: 'tcp',
  listen,
  to,
});

describe("Rancher's metadata service as a source of published ports", () => {
  const open: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
  });

  async function follow(containers: unknown) {
    const server = await MetadataServer.start([]);
    server.containers = containers;
    const clock = new LeapingClock();
    const changes = new EventEmitter();
    const { address } = server;
    const source: Source<DesiredPort> = new Source({
      feed: containerFeed({ address, hostUuid: 'h-a', environmentUuid: 'e1', clock }),
      clock,
      random: () => 0.5,
      // Deferred, because the first call comes before `source` is assigned.
      onChange: () => queueMicrotask(() => changes.emit('change')),
      onWarning: (problem) => {
        throw new Error(problem);
      },
    });
    open.push(server, source);
    const until = async (wanted: (status: SourceStatus<DesiredPort>) => boolean) => {
      while (!wanted(source.status)) await once(changes, 'change');
      return source.status;
    };
    const current = () => until(({ state }) => state === 'current');
    return { server, until, current };
  }

  it('has those of containers of this host that run, in the order of uuids', async () => {
    const { current } = await follow([
      container('c-3', ['0.0.0.0:8081:80', '192.0.2.2:53:5353/udp']),
      container('c-1', ['0.0.0.0:8080:80/tcp', '0.0.0.0:80/tcp'], { state: 'stopping' }),
      container('c-2', ['0.0.0.0:8082:80'], { state: 'stopped' }),
      container('c-4', ['0.0.0.0:8083:80'], { host_uuid: 'h-b' }),
      container('c-5', ['0.0.0.0:8084:80'], { environment_uuid: 'e2' }),
      container('c-6', null),
      container('c-7', [], { primary_ip: null }),
    ]);
    expect(await current()).toMatchObject({
      items: [
        tcp('c-1', '0.0.0.0:8080', '10.42.1.10:80'),
        tcp('c-3', '0.0.0.0:8081', '10.42.1.10:80'),
        { id: 'c-3', proto: 'udp', listen: '192.0.2.2:53', to: '10.42.1.10:5353' },
      ],
      skippedCount: 0,
      isLimited: false,
    });
  });

  it.each([
    '',
    '80',
    '8080:80',
    '0.0.0.0:8080:',
    '1.2.3.4::80',
    '0.0.0.0:0:80',
    '0.0.0.0:80:65536',
    '0.0.0.0:1.2.3.4:80',
    '0.0.0.0:[::1]:80:80',
    '0.0.0.0:80:80/sctp',
    '0.0.0.0:080:80',
    '010.0.0.1:80:80',
    '256.1.1.1:80:80',
    '127.0.0.1:80:80',
    '224.0.0.1:80:80',
    '0.0.0.0:80:80; reboot',
    80,
    null,
    ['0.0.0.0:80:80'],
  ])('skips the rule %j, and no other', async (rule) => {
    const { current } = await follow([container('c-1', [rule, '0.0.0.0:8080:80'])]);
    expect(await current()).toMatchObject({
      items: [tcp('c-1', '0.0.0.0:8080', '10.42.1.10:80')],
      skipped: [{ id: 'c-1', code: 'badPort' }],
    });
  });

  it('skips a container that cannot be read, and that one alone', async () => {
    const rules = ['0.0.0.0:8080:80'];
    const { current } = await follow([
      7,
      container('../c', rules),
      container('c-1', rules, { primary_ip: null }),
      container('c-2', rules, { primary_ip: '<nil>' }),
      container('c-3', { web: '0.0.0.0:8080:80' }),
      container('c-4', rules, { name: 'x'.repeat(70_000) }),
      container('c-5', rules),
    ]);
    const { items, skipped } = await current();
    expect(items.map(({ id }) => id)).toEqual(['c-5']);
    expect(skipped.map(({ id, code }) => `${id}: ${code}`)).toEqual([
      ': badElement',
      ': badId',
      'c-1: badAddress',
      'c-2: badAddress',
      'c-3: badPort',
      ': badElement',
    ]);
  });

  it('takes 64 rules of a container and 512 ports of all, the first by uuid, in whatever order they come', async () => {
    const rules = (count: number) =>
      Array.from({ length: count }, (_, index) => `0.0.0.0:${20_000 + index}:80`);
    const many = Array.from({ length: 4096 }, (_, index) =>
      container(
        `c-${String((index * 7919) % 4096).padStart(4, '0')}`,
        rules(index % 2 === 0 ? 1 : 2),
      ),
    );
    const flood = container('a', rules(10_000));
    const { current } = await follow([...many, container('b', rules(2_000)), flood]);
    const { items, isLimited, skipped } = await current();
    expect([items.length, isLimited, skipped.length]).toEqual([512, true, 1]);
    expect(items.filter(({ id }) => id === 'b')).toHaveLength(64);
    const ids = items.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort());
    expect(ids.at(-1)).toMatch(/^c-02\d\d$/);
  });

  it('keeps what it told while the service fails, and follows a container that stops and starts', async () => {
    const first = container('c-1', ['0.0.0.0:8080:80']);
    const second = container('c-2', ['0.0.0.0:8081:80']);
    const { server, until, current } = await follow([first, second]);
    await current();
    server.break((_request, response) => void response.writeHead(500).end());
    expect((await until(({ state }) => state === 'stale')).items).toHaveLength(2);
    server.containers = [
      { ...first, state: 'stopped' },
      { ...second, primary_ip: '10.42.1.11' },
    ];
    server.break(undefined);
    const { items } = await until(({ items }) => items.length === 1);
    expect(items).toEqual([tcp('c-2', '0.0.0.0:8081', '10.42.1.11:80')]);
  });
});
