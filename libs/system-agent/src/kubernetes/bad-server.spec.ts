import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { AgentError, type AgentErrorCode } from '../agent-error.js';
import type { Secret } from '../ports.js';
import {
  answer,
  endless,
  reset,
  resetAfter,
  silent,
  slow,
  upgrade,
  type ApiFault,
} from '../testing/index.js';
import {
  closeStores,
  isWatch,
  never,
  serve,
  stops,
  storeOf,
  watching,
} from '../testing/store-harness.js';

afterEach(closeStores);

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
      'answers with an encoding that was not asked for',
      answer(200, Buffer.alloc(10), { 'content-encoding': 'gzip' }),
      'refused',
    ],
    ['changes the protocol', upgrade, 'unreachable'],
    ['sends it elsewhere', answer(307, '', { location: 'https://192.0.2.1/' }), 'refused'],
  ];

  /** Shortens the time-out only for `silent`, because an answer may be slow on a busy machine. */
  const patienceWith = (fault: ApiFault) => (fault === silent ? { answerMs: 300 } : {});

  it.each(faults)('%s: reading fails', async (_title, fault, code) => {
    const server = await serve();
    server.create({ plan: '{}' });
    server.fault(fault);
    const store = storeOf(server, patienceWith(fault));
    await expect(store.read({ signal: never })).rejects.toMatchObject({ name: 'AgentError', code });
  });

  it.each(faults)('%s: writing fails', async (_title, fault, code) => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server, patienceWith(fault));
    const secret = (await store.read({ signal: never })) as Secret;
    server.fault(fault);
    const writing = store.write(secret, { x: Buffer.from('y') }, { signal: never });
    await expect(writing).rejects.toMatchObject({ name: 'AgentError', code });
  });

  it.each(faults)('%s: the watch reports it and goes on', async (_title, fault) => {
    const server = await serve();
    server.create({ plan: 'first' });
    let requests = 0;
    // After the first watch fails, the client lists at once. Make the list fail too.
    server.fault((...request) => ((requests += 1) > 1 ? answer(500, '{}') : fault)(...request), {
      times: 2,
    });
    const watch = watching(storeOf(server, patienceWith(fault)));
    await watch.until(() => watch.failures().length > 0);
    expect(await watch.reports(1)).toEqual(['first']);
    await watch.connected();
    server.update({ plan: 'second' });
    expect(await watch.reports(2)).toEqual(['first', 'second']);
  });

  // Leaves out `reset`: after a reset, the client reconnects at once and reports no failure.
  it.each(faults.filter(([, fault]) => fault !== reset))(
    '%s when it lists: the watch reports it and goes on',
    async (_title, fault, code) => {
      const server = await serve({ watchList: false });
      server.create({ plan: 'first' });
      server.fault(fault, { times: 1, when: (request) => !isWatch(request) });
      const watch = watching(storeOf(server, patienceWith(fault)));
      await watch.connected();
      expect(watch.reported).toEqual(['first']);
      expect(new Set(watch.failures())).toEqual(new Set([code]));
    },
  );

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
  ])(
    'sends %s in the middle of a watch: the watch reports it and goes on',
    async (_title, more, code) => {
      const server = await serve();
      server.create({ plan: 'first' });
      server.fault(after(more), { times: 1 });
      const watch = watching(storeOf(server));
      await watch.until(() => watch.failures().length > 0);
      await watch.connected();
      server.update({ plan: 'second' });
      expect(await watch.reports(2)).toEqual(['first', 'second']);
      expect(watch.failures()).toEqual([code]);
    },
  );

  it('sends an event of a kind that is not known: passed over', async () => {
    const server = await serve();
    server.create({ plan: 'first' });
    server.fault(after((response) => response.write(line({ type: 'NEWS', object: {} }))));
    const watch = watching(storeOf(server));
    await watch.connected();
    server.update({ plan: 'second' });
    expect(await watch.reports(2)).toEqual(['first', 'second']);
    expect(watch.failures()).toEqual([]);
  });

  it('repeats the token: it is in no error', async () => {
    const server = await serve();
    const message = `no user has the token ${server.token}`;
    const store = storeOf(server);
    server.fault(answer(401, JSON.stringify({ message })), { times: 1 });
    await expect(store.read({ signal: never })).rejects.toThrow(
      /answered 401: no user has the token \[token\]$/,
    );
    const event = { type: 'ERROR', object: { code: 401, message } };
    server.fault(answer(200, line(event)), { times: 1 });
    const watch = watching(store);
    await watch.connected();
    const [state] = watch.states;
    expect(state?.kind === 'waiting' && state.error.message).toMatch(/has the token \[token\]$/);
  });

  it('gets no token into an error by repeating it outside of a message', async () => {
    const server = await serve();
    const { token } = server;
    const store = storeOf(server);
    const other = { kind: 'Secret', metadata: { name: token, namespace: token } };
    for (const fault of [
      answer(200, '{}', { 'content-encoding': token }),
      answer(200, '{}', { 'content-length': token }),
      answer(200, token),
      answer(200, JSON.stringify(other)),
      answer(200, JSON.stringify({ kind: token })),
    ]) {
      server.fault(fault, { times: 1 });
      const error: unknown = await store.read({ signal: never }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(AgentError);
      expect(inspect(error, { depth: 10 })).not.toContain(token);
    }
  });

  it('cuts its watch anywhere: what happened is reported once, and nothing is lost', async () => {
    const server = await serve();
    const object = server.create({ plan: 'first' });
    // The 100 bytes are for the bookmark that follows the Secret.
    const size = line({ type: 'ADDED', object }).length + 100;
    for (let bytes = 1; bytes < size; bytes += 37) {
      server.update({ plan: `before ${bytes}` });
      server.fault(resetAfter(bytes), { times: 1 });
      const watch = watching(storeOf(server));
      await watch.until(() => watch.reported.length > 0);
      server.update({ plan: 'after' });
      await watch.until(() => watch.reported.at(-1) === 'after');
      expect([bytes, ...new Set(watch.reported)]).toEqual([bytes, ...watch.reported]);
      await watch.stop();
    }
  });

  it('takes an answer that comes byte by byte', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    server.fault(slow);
    const store = storeOf(server);
    expect((await store.read({ signal: never }))?.data['plan']?.toString()).toBe('{}');
    const watch = watching(store);
    expect(await watch.reports(1)).toEqual(['{}']);
  });

  it.each([
    ['accepts connections and says nothing', () => undefined],
    ['speaks something else', (socket: Socket) => socket.end('SSH-2.0-OpenSSH_10.0\r\n')],
    ['ends each connection', (socket: Socket) => socket.destroy()],
  ])('%s: reading fails', async (_title, onConnection: (socket: Socket) => void) => {
    const sockets: Socket[] = [];
    const peer = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      onConnection(socket);
    }).listen(0, '127.0.0.1');
    await once(peer, 'listening');
    stops.push(async () => {
      for (const socket of sockets) socket.destroy();
      await once(peer.close(), 'close');
    });
    const { port } = peer.address() as AddressInfo;
    const server = `https://127.0.0.1:${port}`;
    const store = storeOf(await serve(), { answerMs: 300 }, { server });
    await expect(store.read({ signal: never })).rejects.toMatchObject({ code: 'unreachable' });
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
    await expect(store.read({ signal: never })).rejects.toMatchObject({ code: 'refused' });
    server.fault(answer(200, line({ type: 'ADDED', object })), { times: 1 });
    const watch = watching(store);
    expect(await watch.reports(1)).toEqual(['{}']);
  });

  it('keeps a value under the name of a prototype', async () => {
    const server = await serve();
    server.create({ ['__proto__']: 'x', plan: '{}' });
    const secret = (await storeOf(server).read({ signal: never })) as Secret;
    expect(Object.keys(secret.data).sort()).toEqual(Object.keys(server.read()?.data ?? {}).sort());
  });
});
