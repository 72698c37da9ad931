import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { AgentErrorCode } from '../agent-error.js';
import type { Clock, Secret, SecretStore, WatchState } from '../ports.js';
import {
  answer,
  createCertificateAuthority,
  endless,
  reset,
  resetAfter,
  silent,
  slow,
  startApiServer,
  type ApiFault,
  type ApiRequest,
  type ApiServer,
  type ApiServerOptions,
  type KubeconfigOptions,
} from '../testing/index.js';
import { CAN_PROXY } from './api-connection.js';
import { parseConnectionInfo } from './connection-info.js';
import { secretStore, type SecretStoreOptions } from './secret-store.js';

const AT_START = new Date('2026-11-22T00:00:00Z');
const servers: ApiServer[] = [];
const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  for (const server of servers.splice(0)) await server.close();
});

async function serve(options?: ApiServerOptions): Promise<ApiServer> {
  const server = await startApiServer(options);
  servers.push(server);
  return server;
}

/** Time that stands still until somebody waits, and then is where they want it: no wait takes long. */
class LeapingClock implements Clock {
  readonly waits: number[] = [];
  #now = AT_START.getTime();

  now(): Date {
    return new Date(this.#now);
  }

  advance(ms: number): void {
    this.#now += ms;
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.waits.push(ms);
    this.#now += ms;
    await turn();
  }
}

function storeOf(
  server: ApiServer,
  options: Partial<SecretStoreOptions> = {},
  kubeconfig?: KubeconfigOptions,
): SecretStore {
  const info = parseConnectionInfo(server.connectionInfo(kubeconfig), '/connection.json');
  return secretStore(info, {
    clock: new LeapingClock(),
    strictTls: true,
    random: () => 0,
    ...options,
  });
}

const never = new AbortController().signal;

/** A watch that keeps what it is told, as texts: the plan of the Secret or `none`, and the states. */
function watching(store: SecretStore) {
  const told: string[] = [];
  const secrets: Secret[] = [];
  const states: WatchState[] = [];
  const controller = new AbortController();
  const changes = new EventEmitter();
  const tell = () => changes.emit('change');
  const ended = store.watch(
    (secret) => {
      told.push(secret?.data['plan']?.toString() ?? 'none');
      if (secret) secrets.push(secret);
      tell();
    },
    (state) => {
      states.push(state);
      tell();
    },
    controller.signal,
  );
  const stop = async (): Promise<void> => {
    controller.abort();
    await ended;
  };
  stops.push(stop);
  const until = async (isReached: () => boolean): Promise<void> => {
    while (!isReached()) await once(changes, 'change');
  };
  return {
    told,
    secrets,
    states,
    stop,
    until,
    /** Waits for so many tellings. */
    tellings: async (count: number) => {
      await until(() => told.length >= count);
      return told;
    },
    connected: () => until(() => states.at(-1)?.kind === 'connected'),
    /** The codes of what went wrong so far. */
    failures: () =>
      states.flatMap((state) => (state.kind === 'waiting' ? [codeOf(state.error)] : [])),
  };
}

function codeOf(error: unknown): AgentErrorCode {
  return (error as { code: AgentErrorCode }).code;
}

function errorOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

const isWatch = ({ query }: ApiRequest) => query.get('watch') === 'true';

describe('the proxy of the environment', () => {
  const access = (server: ApiServer) => {
    const info = parseConnectionInfo(server.connectionInfo(), '/connection.json');
    // A name that only the proxy can find.
    const url = new URL('https://rancher.invalid:6443');
    return { ...info, access: { ...info.access, server: url, tlsServerName: 'localhost' } };
  };
  const plain = { clock: new LeapingClock(), strictTls: true };

  (CAN_PROXY ? it : it.skip)('leads to the server, and sees no token', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    const seen: string[] = [];
    const proxy = createServer().on('connect', (request, socket: Socket) => {
      seen.push(JSON.stringify([request.url, request.headers]));
      const { port } = new URL(server.url);
      const onward = connect(Number(port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      for (const each of [socket, onward]) each.on('error', () => onward.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    stops.push(async () => {
      await once(proxy.close(), 'close');
    });
    const { port } = proxy.address() as AddressInfo;
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const store = secretStore(access(server), { ...plain, environment });
    expect((await store.read(never))?.data['plan']?.toString()).toBe('{}');
    expect(seen).toEqual([expect.stringContaining('rancher.invalid:6443')]);
    expect(seen.join()).not.toContain(server.token);
    await server.close();
  });

  (CAN_PROXY ? it.skip : it)('is not used by a Node that is too old, which is said', async () => {
    const warnings: string[] = [];
    const environment = { HTTPS_PROXY: 'http://127.0.0.1:1' };
    const onWarning = (message: string) => warnings.push(message);
    secretStore(access(await serve()), { ...plain, environment, onWarning });
    expect(warnings).toEqual([expect.stringMatching(/^HTTPS_PROXY is not used/)]);
  });
});

describe('reading', () => {
  it('gives the Secret, decoded, and the whole object', async () => {
    const server = await serve();
    server.create({ plan: '{}', bytes: Buffer.from([0, 255]), empty: '' });
    const secret = await storeOf(server).read(never);
    expect(secret).toEqual({
      uid: server.read()?.metadata.uid,
      resourceVersion: server.read()?.metadata.resourceVersion,
      data: { plan: Buffer.from('{}'), bytes: Buffer.from([0, 255]), empty: Buffer.alloc(0) },
      object: server.read(),
    });
  });

  it('gives nothing when there is none', async () => {
    const server = await serve();
    expect(await storeOf(server).read(never)).toBeUndefined();
  });

  it('says who it is, and shows its token', async () => {
    const server = await serve();
    await storeOf(server).read(never);
    expect(server.requests[0]?.headers).toMatchObject({
      accept: 'application/json',
      authorization: `Bearer ${server.token}`,
      'user-agent': expect.stringMatching(/^wins\/\S+ \(\w+\/\w+\)$/) as string,
    });
  });

  it('shows its certificate where the kubeconfig has one', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server, {}, { client: server.clientCertificate });
    expect((await store.read(never))?.data['plan']?.toString()).toBe('{}');
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('knows when the server last sent something', async () => {
    const clock = new LeapingClock();
    const server = await serve();
    const store = storeOf(server, { clock });
    expect(store.lastContactAt).toBeUndefined();
    clock.advance(5000);
    await store.read(never);
    expect(store.lastContactAt).toEqual(new Date(AT_START.getTime() + 5000));
  });
});

describe('writing', () => {
  it('replaces the values that change, and leaves everything else as it was', async () => {
    const server = await serve();
    server.create({ plan: '{}', other: 'kept' });
    server.update();
    const store = storeOf(server);
    const secret = (await store.read(never)) as Secret;
    const written = await store.write(secret, { 'applied-checksum': Buffer.from('ab') }, never);
    expect(written.data).toEqual({
      plan: Buffer.from('{}'),
      other: Buffer.from('kept'),
      'applied-checksum': Buffer.from('ab'),
    });
    expect(server.read()).toEqual(written.object);
    expect(server.read()?.metadata['labels']).toEqual(
      (secret.object['metadata'] as { labels: unknown }).labels,
    );
    expect(server.events.at(-1)?.manager).toBe('wins');
  });

  it('is refused when somebody else wrote meanwhile', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server);
    const secret = (await store.read(never)) as Secret;
    server.update({ plan: 'new' });
    await expect(store.write(secret, {}, never)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        /^cannot write the Secret: the API server answered 409: .*has been modified/,
      ) as string,
    });
    expect(server.data()['plan']?.toString()).toBe('new');
  });

  it.each([
    ['notFound', 'the Secret is gone', (server: ApiServer) => server.remove()],
    [
      'conflict',
      'another Secret has taken its place',
      (server: ApiServer) => {
        server.remove();
        server.create({ plan: 'other' });
      },
    ],
  ] as const)('is %s when %s', async (code, _title, change) => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server);
    const secret = (await store.read(never)) as Secret;
    change(server);
    const writing = store.write(secret, { x: Buffer.from('y') }, never);
    await expect(writing).rejects.toMatchObject({ code });
  });

  it('is tooLarge above a mebibyte', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server);
    const secret = (await store.read(never)) as Secret;
    const writing = store.write(secret, { output: Buffer.alloc(1_048_576) }, never);
    await expect(writing).rejects.toMatchObject({ code: 'tooLarge' });
  });

  it('makes a new connection when the server closed the one that was kept', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server);
    const secret = (await store.read(never)) as Secret;
    server.resetConnections();
    await store.write(secret, { x: Buffer.from('y') }, never);
    expect(server.data()['x']?.toString()).toBe('y');
  });
});

describe('watching', () => {
  it('tells the Secret as it is, then each change, and that it is gone', async () => {
    const server = await serve();
    server.create({ plan: 'first' });
    const watch = watching(storeOf(server));
    await watch.tellings(1);
    server.update({ plan: 'second' });
    server.bookmark();
    server.remove();
    server.create({ plan: 'third' });
    expect(await watch.tellings(4)).toEqual(['first', 'second', 'none', 'third']);
    expect(watch.states).toEqual([{ kind: 'connected' }]);
    expect(server.requests).toHaveLength(1);
  });

  it('asks for the Secret alone, with initial events and bookmarks, for five to ten minutes', async () => {
    const server = await serve();
    const watch = watching(storeOf(server, { random: () => 0.5 }));
    await watch.connected();
    const [request] = server.requests;
    expect(request?.path).toBe('/api/v1/namespaces/fleet-default/secrets');
    expect(Object.fromEntries(request?.query ?? [])).toEqual({
      allowWatchBookmarks: 'true',
      fieldSelector: 'metadata.name=demo-machine-plan',
      resourceVersionMatch: 'NotOlderThan',
      sendInitialEvents: 'true',
      timeoutSeconds: '450',
      watch: 'true',
    });
  });

  it('tells that there is no Secret, and the one that comes', async () => {
    const server = await serve();
    const watch = watching(storeOf(server));
    await watch.tellings(1);
    server.create({ plan: 'late' });
    expect(await watch.tellings(2)).toEqual(['none', 'late']);
  });

  it('goes on from where it was when the server ends it, and tells nothing twice', async () => {
    const clock = new LeapingClock();
    const server = await serve();
    server.create({ plan: 'first' });
    const watch = watching(storeOf(server, { clock }));
    await watch.connected();
    clock.advance(400_000);
    const again = server.nextRequest(isWatch);
    server.endWatches();
    const { query } = await again;
    expect(query.get('resourceVersion')).toBe(server.read()?.metadata.resourceVersion);
    expect(query.get('sendInitialEvents')).toBeNull();
    server.update({ plan: 'second' });
    expect(await watch.tellings(2)).toEqual(['first', 'second']);
    expect(clock.waits).toEqual([]);
  });

  it('tells what happened while the connection was lost', async () => {
    const server = await serve();
    server.create({ plan: 'first' });
    const watch = watching(storeOf(server));
    await watch.connected();
    await server.down();
    server.update({ plan: 'second' });
    await watch.until(() => watch.failures().length > 2);
    await server.up();
    expect(await watch.tellings(2)).toEqual(['first', 'second']);
    expect(new Set(watch.failures())).toEqual(new Set(['unreachable']));
    await watch.connected();
  });

  it.each(['event', 'status'] as const)(
    'reads the Secret anew when its version is too old, told by its %s',
    async (expiredAs) => {
      const server = await serve({ expiredAs });
      server.create({ plan: 'first' });
      const watch = watching(storeOf(server));
      await watch.connected();
      await server.down();
      server.remove();
      server.compact();
      await server.up();
      expect(await watch.tellings(2)).toEqual(['first', 'none']);
    },
  );

  it('lists and watches where the server does not know initial events', async () => {
    const server = await serve({ watchList: false });
    server.create({ plan: 'first' });
    const watch = watching(storeOf(server));
    await watch.connected();
    server.update({ plan: 'second' });
    expect(await watch.tellings(2)).toEqual(['first', 'second']);
    expect(server.requests.map(({ query }) => query.get('watch') ?? 'list')).toEqual([
      'true',
      'list',
      'true',
    ]);
    expect(watch.failures()).toEqual([]);
    // An item of a list is a whole object, so that it can be written back.
    expect(watch.secrets[0]?.object).toMatchObject({ kind: 'Secret', apiVersion: 'v1' });
  });

  it('lists that there is no Secret where the server does not know initial events', async () => {
    const server = await serve({ watchList: false });
    const watch = watching(storeOf(server));
    expect(await watch.tellings(1)).toEqual(['none']);
  });

  it('asks again after 0.8, 1.6, 3.2 … 30 seconds, and up to twice as long by chance', async () => {
    const clock = new LeapingClock();
    const server = await serve();
    await server.down();
    const watch = watching(storeOf(server, { clock, random: () => 0.5 }));
    await watch.until(() => watch.states.length > 8);
    await watch.stop();
    expect(clock.waits.slice(0, 8)).toEqual([
      1200, 2400, 4800, 9600, 19_200, 38_400, 45_000, 45_000,
    ]);
    const [first] = watch.states;
    expect(first).toMatchObject({ retryAt: new Date(AT_START.getTime() + 1200) });
  });

  it('waits as long as the server asks', async () => {
    const clock = new LeapingClock();
    const server = await serve();
    const busy = answer(429, '{}', { 'retry-after': '17' });
    server.fault(busy, { times: 1 });
    const watch = watching(storeOf(server, { clock }));
    await watch.connected();
    expect(clock.waits).toEqual([17_000]);
  });

  it('does not let the server make it wait for days', async () => {
    const clock = new LeapingClock();
    const server = await serve();
    server.fault(answer(503, '', { 'retry-after': '99999999' }), { times: 1 });
    const watch = watching(storeOf(server, { clock }));
    await watch.connected();
    expect(clock.waits).toEqual([300_000]);
  });

  it('does not ask without a pause when the server ends each watch', async () => {
    const clock = new LeapingClock();
    const server = await serve();
    server.fault(answer(200, ''), { times: 4 });
    const watch = watching(storeOf(server, { clock }));
    await watch.connected();
    expect(clock.waits).toEqual([800, 1600, 3200, 6400]);
  });

  it('ends at once when it is aborted while it waits for the server', async () => {
    const server = await serve();
    server.fault(silent);
    const request = server.nextRequest();
    const watch = watching(storeOf(server));
    await request;
    await watch.stop();
    expect(watch.states).toEqual([]);
  });
});

describe('what the API server refuses', () => {
  it.each<[AgentErrorCode, number]>([
    ['unauthorized', 401],
    ['forbidden', 403],
    ['notFound', 404],
    ['refused', 500],
    ['refused', 302],
    ['expired', 410],
  ])('is told as %s for %d, and tried again', async (code, status) => {
    const server = await serve();
    server.create({ plan: 'first' });
    server.fault(answer(status, '{}', { location: server.url }), { times: 1 });
    const watch = watching(storeOf(server));
    expect(await watch.tellings(1)).toEqual(['first']);
    await watch.connected();
    expect(watch.failures()).toEqual([code]);
  });

  it('is told for a token that is not known, which is in no error', async () => {
    const server = await serve();
    const store = storeOf(server, {}, { token: 'canary-token' });
    const error: unknown = await store.read(never).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'unauthorized' });
    const watch = watching(store);
    await watch.until(() => watch.failures().length > 0);
    for (const each of [error, ...watch.states]) {
      expect(JSON.stringify(each, Object.getOwnPropertyNames(each)) + String(each)).not.toContain(
        'canary',
      );
    }
  });

  it('has its foreign text escaped and cut', async () => {
    const server = await serve();
    const message = `\u001b[2J\nlevel=info ${'x'.repeat(10_000)}`;
    server.fault(answer(500, JSON.stringify({ message })));
    const error = (await storeOf(server)
      .read(never)
      .catch((reason: unknown) => reason)) as Error;
    expect(error.message).toMatch(/answered 500: \\u001b\[2J\\u000alevel=info x+…$/);
    expect(error.message.length).toBeLessThan(700);
  });
});

describe('a server that behaves badly', () => {
  const faults: [string, ApiFault, AgentErrorCode][] = [
    ['never answers', silent, 'unreachable'],
    ['resets the connection', reset, 'unreachable'],
    ['resets it after the first byte of its answer', resetAfter(1), 'unreachable'],
    ['resets it in the middle of its answer', resetAfter(200), 'unreachable'],
    ['answers with something that is no JSON', answer(200, '<html>\n</html>\n'), 'refused'],
    ['answers with JSON that is no object', answer(200, '[1]\n'), 'refused'],
    ['answers with null', answer(200, 'null\n'), 'refused'],
    [
      'answers with JSON of something else',
      answer(200, '{"type":"ADDED","kind":"Pod"}\n'),
      'refused',
    ],
    ['answers without an end', endless, 'refused'],
    [
      'answers with a bomb of headers',
      answer(200, '{}', { 'x-bomb': 'x'.repeat(100_000) }),
      'unreachable',
    ],
    [
      'answers with an encoding that nobody asked for',
      answer(200, Buffer.alloc(10), { 'content-encoding': 'gzip' }),
      'refused',
    ],
    ['sends it elsewhere', answer(307, '', { location: 'https://192.0.2.1/' }), 'refused'],
  ];

  /** Only silence is worth a short patience: on a busy machine any answer takes its time. */
  const patienceWith = (fault: ApiFault) => (fault === silent ? { answerMs: 300 } : {});

  it.each(faults)('%s: reading fails', async (_title, fault, code) => {
    const server = await serve();
    server.create({ plan: '{}' });
    server.fault(fault);
    const store = storeOf(server, patienceWith(fault));
    await expect(store.read(never)).rejects.toMatchObject({ name: 'AgentError', code });
  });

  it.each(faults)('%s: writing fails', async (_title, fault, code) => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server, patienceWith(fault));
    const secret = (await store.read(never)) as Secret;
    server.fault(fault);
    const writing = store.write(secret, { x: Buffer.from('y') }, never);
    await expect(writing).rejects.toMatchObject({ name: 'AgentError', code });
  });

  it.each(faults)('%s: the watch tells it, and goes on', async (_title, fault, code) => {
    const server = await serve();
    server.create({ plan: 'first' });
    server.fault(fault, { times: 1 });
    const watch = watching(storeOf(server, patienceWith(fault)));
    expect(await watch.tellings(1)).toEqual(['first']);
    await watch.until(() => watch.failures().length > 0);
    await watch.connected();
    expect(new Set(watch.failures())).toEqual(new Set([code]));
    server.update({ plan: 'second' });
    expect(await watch.tellings(2)).toEqual(['first', 'second']);
  });

  // But for an end without an answer, after which a new connection is tried at once.
  it.each(faults.filter(([, fault]) => fault !== reset))(
    '%s when it lists: the watch tells it, and goes on',
    async (_title, fault, code) => {
      const server = await serve({ watchList: false });
      server.create({ plan: 'first' });
      server.fault(fault, { times: 1, when: (request) => !isWatch(request) });
      const watch = watching(storeOf(server, patienceWith(fault)));
      await watch.connected();
      expect(watch.told).toEqual(['first']);
      expect(new Set(watch.failures())).toEqual(new Set([code]));
    },
  );

  /** Follows the answer of the double by something else. */
  const after =
    (more: (response: ServerResponse) => void): ApiFault =>
    (_request, response, proceed) => {
      proceed();
      more(response);
    };
  const line = (event: object) => `${JSON.stringify(event)}\n`;
  const error = (code: number) => ({ type: 'ERROR', object: { kind: 'Status', code } });

  it.each<[string, (response: ServerResponse) => void, AgentErrorCode]>([
    ['something that is no JSON', (response) => response.write('<html>\n'), 'refused'],
    ['a value that is no event', (response) => response.write('null\n'), 'refused'],
    [
      'an event without an object',
      (response) => response.write(line({ type: 'MODIFIED' })),
      'refused',
    ],
    ['a bookmark of nothing', (response) => response.write(line({ type: 'BOOKMARK' })), 'refused'],
    [
      'a Secret that is another one',
      (response) =>
        response.write(line({ type: 'MODIFIED', object: { kind: 'Secret', metadata: {} } })),
      'refused',
    ],
    ['an error of the server', (response) => response.write(line(error(500))), 'refused'],
    ['that it is forbidden now', (response) => response.write(line(error(403))), 'forbidden'],
    [
      'an error of no kind',
      (response) => response.write(line({ type: 'ERROR', object: {} })),
      'refused',
    ],
    [
      'half a line',
      (response) => response.write('{"type":', () => response.destroy()),
      'unreachable',
    ],
    [
      'a line without an end',
      (response) => response.write(Buffer.alloc(5_000_000, ' ')),
      'refused',
    ],
  ])('sends %s in the middle of a watch: told, and gone on', async (_title, more, code) => {
    const server = await serve();
    server.create({ plan: 'first' });
    server.fault(after(more), { times: 1 });
    const watch = watching(storeOf(server));
    await watch.until(() => watch.failures().length > 0);
    await watch.connected();
    server.update({ plan: 'second' });
    expect(await watch.tellings(2)).toEqual(['first', 'second']);
    expect(watch.failures()).toEqual([code]);
    // Where only the connection was lost, the Secret is not read anew.
    const isResumed = server.requests.at(-1)?.query.has('resourceVersion');
    expect(isResumed).toBe(code === 'unreachable');
  });

  it('sends an event of a kind that is not known: passed over', async () => {
    const server = await serve();
    server.create({ plan: 'first' });
    server.fault(after((response) => response.write(line({ type: 'NEWS', object: {} }))));
    const watch = watching(storeOf(server));
    await watch.connected();
    server.update({ plan: 'second' });
    expect(await watch.tellings(2)).toEqual(['first', 'second']);
    expect(watch.failures()).toEqual([]);
  });

  it('repeats the token: it is in no error', async () => {
    const server = await serve();
    const message = `no user has the token ${server.token}`;
    const store = storeOf(server);
    server.fault(answer(401, JSON.stringify({ message })), { times: 1 });
    await expect(store.read(never)).rejects.toThrow(
      /answered 401: no user has the token \[token\]$/,
    );
    const event = { type: 'ERROR', object: { code: 401, message } };
    server.fault(answer(200, line(event)), { times: 1 });
    const watch = watching(store);
    await watch.connected();
    const [state] = watch.states;
    expect(state?.kind === 'waiting' && state.error.message).toMatch(/has the token \[token\]$/);
  });

  it('takes an answer that comes byte by byte', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    server.fault(slow);
    const store = storeOf(server);
    expect((await store.read(never))?.data['plan']?.toString()).toBe('{}');
    const watch = watching(store);
    expect(await watch.tellings(1)).toEqual(['{}']);
  });

  it('takes a watch that is silent for dead, and makes a new one', async () => {
    const server = await serve();
    server.create({ plan: 'first' });
    const watch = watching(storeOf(server, { silenceMs: 50 }));
    await watch.until(() => watch.failures().length > 0);
    await watch.connected();
    expect(watch.failures()[0]).toBe('unreachable');
    expect(watch.told).toEqual(['first']);
  });

  it.each([
    ['another name', { name: 'other' }],
    ['another namespace', { namespace: 'kube-system' }],
  ])('answers with a Secret of %s: refused', async (_title, other) => {
    const server = await serve();
    const secret = server.create({ plan: '{}' });
    const object = { ...secret, metadata: { ...secret.metadata, ...other } };
    const store = storeOf(server);
    server.fault(answer(200, JSON.stringify(object)));
    await expect(store.read(never)).rejects.toMatchObject({ code: 'refused' });
    server.fault(answer(200, `${JSON.stringify({ type: 'ADDED', object })}\n`), { times: 1 });
    const watch = watching(store);
    await watch.until(() => watch.failures().length > 0);
    expect(watch.failures()).toEqual(['refused']);
    expect(await watch.tellings(1)).toEqual(['{}']);
  });

  it('keeps a value under the name of a prototype', async () => {
    const server = await serve();
    server.create({ ['__proto__']: 'x', plan: '{}' });
    const secret = (await storeOf(server).read(never)) as Secret;
    expect(Object.keys(secret.data).sort()).toEqual(Object.keys(server.read()?.data ?? {}).sort());
  });
});

describe('who is trusted', () => {
  const other = createCertificateAuthority('other');

  it.each([
    ['strict, and the CA of the server', true, undefined, undefined],
    ['strict, and the CA of another authority', true, other.cert, 'unreachable'],
    ['the CA of the server', false, undefined, undefined],
    [
      'the CA of another authority, and the system does not know it',
      false,
      other.cert,
      'unreachable',
    ],
    ['no CA, and the system does not know it', false, null, 'unreachable'],
  ])('%s', async (_title, strictTls, ca, code) => {
    const server = await serve();
    const kubeconfig = ca === undefined ? {} : { ca };
    const store = storeOf(server, { strictTls, systemRoots: () => [other.cert] }, kubeconfig);
    const outcome = await store.read(never).catch((error: unknown) => codeOf(error));
    expect(outcome).toBe(code);
    if (code !== undefined) expect(server.requests).toEqual([]);
  });

  it('needs a CA when it is strict', async () => {
    const server = await serve();
    const make = () => storeOf(server, { strictTls: true }, { ca: null });
    expect(errorOf(make)).toMatchObject({
      code: 'invalidConnection',
      message: expect.stringContaining('agentStrictTLSMode') as string,
    });
  });

  it('tries the authorities of the system when it is not strict, and says so once', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    const warnings: string[] = [];
    const store = storeOf(
      server,
      {
        strictTls: false,
        systemRoots: () => [server.ca],
        onWarning: (message) => warnings.push(message),
      },
      { ca: other.cert },
    );
    await store.read(never);
    await store.read(never);
    expect(warnings).toEqual([expect.stringContaining('agentStrictTLSMode is off')]);
    expect(server.requests).toHaveLength(2);
  });

  it('does not fall back once a certificate of the kubeconfig was good', async () => {
    const server = await serve();
    const store = storeOf(server, { strictTls: false, systemRoots: () => [other.cert] });
    await store.read(never);
    const port = Number(new URL(server.url).port);
    await server.close();
    const impostor = await startApiServer({ port, authority: other });
    servers.push(impostor);
    await expect(store.read(never)).rejects.toMatchObject({ code: 'unreachable' });
    expect(impostor.requests).toEqual([]);
  });

  it('reaches a plain server on this machine', async () => {
    const server = await serve({ plain: true });
    server.create({ plan: '{}' });
    const store = storeOf(server, { strictTls: false });
    expect((await store.read(never))?.data['plan']?.toString()).toBe('{}');
  });

  it('says that nothing listens', async () => {
    const server = await serve();
    const store = storeOf(server);
    await server.close();
    await expect(store.read(never)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/cannot read the Secret: .* ECONNREFUSED$/) as string,
    });
  });
});
