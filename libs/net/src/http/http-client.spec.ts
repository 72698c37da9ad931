import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { inspect } from 'node:util';
import { createCertificateAuthority } from '@wins/base/testing';
import { LeapingClock } from '../testing/leaping-clock.js';
import { clientOf, closeAll, failureOf, serve, serveTls } from '../testing/server-harness.js';
import { HttpClient } from './http-client.js';
import type { HttpSettings } from './http-settings.js';
import { withinOrigin } from './judge-redirect.js';
import type { HttpRequest } from './send-request.js';

afterEach(closeAll);

const WHAT = 'ask the server';
const CANARY = 'canary-of-a-token-0123456789';
const asked = { what: WHAT, maxBytes: 1000 };
const plain = { roots: [] };
const answer =
  (status: number, body = '', headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);
const reset: RequestListener = (request) => void request.socket.resetAndDestroy();
const ok = answer(200, 'ok');
const silent: RequestListener = () => undefined;

describe('a server with TLS', () => {
  it.each(['root', 'between', 'leaf'] as const)(
    'that shows no authority is believed by its %s alone',
    async (which) => {
      const { server, ...pem } = await serveTls();
      // The server sends only its leaf, so `roots` must contain the rest of the chain.
      const roots = which === 'root' ? [pem.root, pem.between] : [pem[which]];
      const { client } = clientOf();
      const { body } = await client.askForBytes({ url: server.url, trust: { roots } }, asked);
      expect(body.toString()).toBe('ok');
    },
  );

  it('must have the right name and be valid, also where it is itself among what is trusted', async () => {
    const { server, leaf } = await serveTls(['elsewhere.invalid']);
    const { client } = clientOf();
    const request = { url: server.url, trust: { roots: [leaf] } };
    expect(await failureOf(client.askForBytes(request, asked))).toMatchObject({
      code: 'otherHost',
    });
    const named = { roots: [leaf], serverName: 'elsewhere.invalid' };
    await client.askForBytes({ url: server.url, trust: named }, asked);
    const authority = createCertificateAuthority('x');
    const past = { notBefore: new Date(Date.now() - 9e8), notAfter: new Date(Date.now() - 1e8) };
    const old = authority.issue('server', ['127.0.0.1'], past);
    const expired = await serve(undefined, old);
    const trust = { roots: [old.cert] };
    expect(await failureOf(client.askForBytes({ url: expired.url, trust }, asked))).toMatchObject({
      code: 'certificateExpired',
    });
  });

  it('of nobody that is trusted gets no request, unless any certificate will do', async () => {
    const { server } = await serveTls();
    const { client } = clientOf();
    const other = { roots: [createCertificateAuthority('other').cert] };
    for (const trust of [other, { roots: [] }])
      expect(await failureOf(client.askForBytes({ url: server.url, trust }, asked))).toMatchObject({
        code: 'unknownAuthority',
        isTransient: false,
      });
    expect(server.requests).toEqual([]);
    await client.askForBytes({ url: server.url, trust: { roots: 'anyCertificate' } }, asked);
  });

  it('is not told a question over a connection that was opened for another trust', async () => {
    const { server } = await serveTls();
    const { client } = clientOf({ keptConnections: 4 });
    await client.askForBytes({ url: server.url, trust: { roots: 'anyCertificate' } }, asked);
    const strict = client.askForBytes({ url: server.url, trust: { roots: [] } }, asked);
    expect(await failureOf(strict)).toMatchObject({ code: 'unknownAuthority' });
  });
});

/** The timer of a connection in /proc/net/tcp: 02 is keep-alive. The address is in hexadecimal, with the bytes of IPv4 reversed. */
function timerOf(port: number): string | undefined {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  return rows.map((row) => row.trim().split(/\s+/)).find(([, one]) => one === local)?.[5];
}

it('asks a silent peer whether it lives, by TCP keep-alive', async () => {
  const server = await serve([(_request, response) => void response.writeHead(200).write('x')]);
  const answer = await clientOf().client.open({ url: server.url, trust: plain }, WHAT);
  const parts = answer.body({ maxBytes: 1000 });
  await parts.next();
  const port = server.requests[0]?.socket.remotePort ?? 0;
  // Until the server has acknowledged the request, the timer is that of a repetition.
  let timer = timerOf(port);
  while (timer?.startsWith('01')) timer = timerOf(port);
  expect(timer).toMatch(/^02:/);
  answer.close();
});

describe('a request that fails for a moment', () => {
  it.each([408, 429, 499, 500, 502, 503, 504, 522])(
    'with status %i is sent again',
    async (status) => {
      const server = await serve([answer(status), ok]);
      const { client, warnings } = clientOf();
      await client.askForBytes({ url: server.url, trust: plain }, asked);
      expect(server.requests).toHaveLength(2);
      expect(warnings).toEqual([expect.stringContaining(`found status ${status}; wanted 200`)]);
    },
  );

  it.each([
    ['resets the connection', reset],
    ['ends it', ((request) => void request.socket.end()) satisfies RequestListener],
  ])('as the server %s is sent again', async (_title, fault) => {
    const server = await serve([fault, ok]);
    const { client } = clientOf();
    await client.askForBytes({ url: server.url, trust: plain }, asked);
    expect(server.requests).toHaveLength(2);
  });

  it('is tried three times, from one second on, and the last failure is told', async () => {
    const server = await serve([answer(503, 'busy')]);
    const { client, waits } = clientOf();
    const failure = await failureOf(client.askForBytes({ url: server.url, trust: plain }, asked));
    expect(failure).toMatchObject({ code: 'badStatus', status: 503, isTransient: true });
    expect(failure.message).toBe(
      `cannot ${WHAT}: found status 503 with "busy"; wanted 200; tried 3 times in 3s`,
    );
    expect([server.requests.length, waits]).toEqual([3, [1000, 2000]]);
  });

  it('waits as long as the server wants, within a bound', async () => {
    const server = await serve([
      answer(429, '', { 'retry-after': '7' }),
      answer(503, '', { 'retry-after': '86400' }),
      ok,
    ]);
    const { client, waits } = clientOf();
    await client.askForBytes({ url: server.url, trust: plain }, asked);
    expect(waits).toEqual([7000, 300_000]);
  });

  it.each([-1, 1])(
    'is tried as long as ever when somebody sets the clock by %i day',
    async (days) => {
      const server = await serve([answer(503)]);
      class SetClock extends LeapingClock {
        override now = () => new Date(this.monotonicMs() + this.waits.length * days * 86_400_000);
      }
      const clock = new SetClock();
      const { client } = clientOf({ clock, tries: 1 });
      await failureOf(
        client.retry({ what: WHAT, timeoutMs: 60_000 }, async (each) => {
          if (clock.waits.length > 9) throw new Error('it never ends');
          return await each.askForBytes({ url: server.url, trust: plain }, asked);
        }),
      );
      expect(clock.waits).toEqual([1000, 2000, 4000, 8000, 16_000]);
    },
  );

  it.each([400, 401, 403, 404, 501])('with status %i is not', async (status) => {
    const server = await serve([answer(status)]);
    const { client } = clientOf();
    const failure = await failureOf(client.askForBytes({ url: server.url, trust: plain }, asked));
    expect([failure.status, server.requests.length]).toEqual([status, 1]);
  });

  it('and may have been taken is not, unless it may be sent twice', async () => {
    const server = await serve([reset, reset, ok]);
    const { client } = clientOf();
    const post = { url: server.url, trust: plain, method: 'POST', body: 'x' } as const;
    expect(await failureOf(client.askForBytes(post, asked))).toMatchObject({ code: 'interrupted' });
    expect(server.requests).toHaveLength(1);
    await client.askForBytes({ ...post, isRepeatable: true }, asked);
    expect(server.requests).toHaveLength(3);
  });

  it('is an answer where there is one try', async () => {
    const server = await serve([answer(503, 'busy')]);
    const { client } = clientOf({ tries: 1 });
    using response = await client.open({ url: server.url, trust: plain }, WHAT);
    expect(response.status).toBe(503);
    expect((await response.bytes({ maxBytes: 10 })).toString()).toBe('busy');
  });
});

describe('a connection that is kept', () => {
  it('is used again once an answer was read, and closed with the client', async () => {
    const server = await serve();
    const { client } = clientOf({ keptConnections: 1 });
    for (let count = 0; count < 3; count += 1)
      await client.askForBytes({ url: server.url, trust: plain }, asked);
    expect([server.connections(), server.requests.length]).toEqual([1, 3]);
    const [{ socket } = { socket: undefined }] = server.requests;
    const closed = new Promise((resolve) => socket?.once('close', resolve));
    client.close();
    await closed;
  });

  it('and that the server has closed meanwhile costs no try', async () => {
    const server = await serve([ok, reset, ok]);
    const { client, warnings } = clientOf({ keptConnections: 1, tries: 1 });
    const request = { url: server.url, trust: plain, method: 'PUT', body: 'x' } as const;
    await client.askForBytes(request, asked);
    await client.askForBytes(request, asked);
    expect([server.requests.length, server.connections(), warnings]).toEqual([3, 2, []]);
  });

  it('is used by one request at a time', async () => {
    const server = await serve();
    const { client } = clientOf({ keptConnections: 2 });
    const ask = () => client.askForBytes({ url: server.url, trust: plain }, asked);
    for (let round = 0; round < 3; round += 1) await Promise.all([ask(), ask(), ask()]);
    expect(server.requests).toHaveLength(9);
    expect(server.connections()).toBeLessThan(9);
  });

  it('is none where an answer was not read to its end', async () => {
    const server = await serve([answer(200, 'x'.repeat(100_000)), ok]);
    const { client } = clientOf({ keptConnections: 1 });
    (await client.open({ url: server.url, trust: plain }, WHAT)).close();
    await client.askForBytes({ url: server.url, trust: plain }, asked);
    expect(server.connections()).toBe(2);
  });

  it('is none by default', async () => {
    const server = await serve();
    const { client } = clientOf();
    for (let count = 0; count < 2; count += 1)
      await client.askForBytes({ url: server.url, trust: plain }, asked);
    expect(server.connections()).toBe(2);
    expect(server.requests[0]?.headers).toMatchObject({
      connection: 'close',
      'user-agent': 'wins/dev',
      'accept-encoding': 'identity',
    });
  });
});

describe('a redirect', () => {
  it('leads to another server, which is judged by its own trust and shown no authorization', async () => {
    const { server: other, root, between } = await serveTls();
    const server = await serve([answer(302, '', { location: other.url.href })]);
    const { client } = clientOf();
    const trust = (url: URL) => ({ roots: url.origin === other.url.origin ? [root, between] : [] });
    const request = { url: server.url, trust, authorization: `Bearer ${CANARY}` };
    expect(await failureOf(client.askForBytes(request, asked))).toMatchObject({
      code: 'redirectRefused',
    });
    const redirects = () => undefined;
    const { answer: found } = await client.askForBytes({ ...request, redirects }, asked);
    expect(found.url.href).toBe(other.url.href);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${CANARY}`);
    expect(inspect(other.requests[0]?.headers)).not.toContain(CANARY);
  });

  it('is judged by the rule of who asks', async () => {
    const server = await serve([answer(302, '', { location: 'http://127.0.0.1:1/' })]);
    const { client } = clientOf();
    const request = { url: server.url, trust: plain, redirects: withinOrigin };
    const failure = await failureOf(client.askForBytes(request, asked));
    expect(failure.message).toContain(`wanted a redirect within ${server.url.origin}`);
  });

  it('is an answer like others where none is wanted', async () => {
    const server = await serve([answer(302, '', { location: '/' })]);
    const { client } = clientOf();
    using response = await client.open({ url: server.url, trust: plain, redirects: 'none' }, WHAT);
    expect(response.status).toBe(302);
  });
});

describe('an answer beyond its bounds', () => {
  const huge = { 'x-huge': 'x'.repeat(20_000) };
  const endless: RequestListener = (_request, response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  };
  const drip: RequestListener = (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 20);
    response.on('close', () => clearInterval(timer));
  };
  const stall: RequestListener = (_request, response) => void response.writeHead(200).write('x');
  it.each<[string, RequestListener, string]>([
    ['has a huge head', answer(200, '', huge), 'badShape'],
    ['is no HTTP', (request) => void request.socket.end('SSH-2.0\r\n'), 'badShape'],
    ['is encoded', answer(200, 'x', { 'content-encoding': 'gzip' }), 'badShape'],
    ['declares too much', answer(200, 'x'.repeat(2000), { 'content-length': '2000' }), 'tooLarge'],
    ['is endless', endless, 'tooLarge'],
    ['never begins', silent, 'timedOut'],
    ['stalls', stall, 'timedOut'],
    ['drips', drip, 'timedOut'],
  ])('that %s is refused', async (_title, listener, code) => {
    const server = await serve([listener]);
    const limits = { answerMs: 300, idleMs: 300, totalMs: 600 };
    const { client } = clientOf({ tries: 1, ...(code === 'timedOut' && { limits }) });
    const asking = client.askForBytes({ url: server.url, trust: plain }, asked);
    expect(await failureOf(asking)).toMatchObject({ code });
  });

  it('is encoded, and taken as it is by who knows its digest', async () => {
    const server = await serve([answer(200, 'x', { 'content-encoding': 'gzip' })]);
    const { client } = clientOf();
    using response = await client.open({ url: server.url, trust: plain }, WHAT);
    expect(await response.bytes({ maxBytes: 10, mayBeEncoded: true })).toHaveLength(1);
  });
});

describe('an abort', () => {
  const reason = new Error('enough');
  const aborted = { name: 'NetError', code: 'aborted', cause: reason };
  const clients: HttpClient[] = [];
  afterEach(() => clients.splice(0).forEach((client) => client.close()));
  const clientWith = (settings: HttpSettings): HttpClient => {
    const client = new HttpClient({ environment: {}, ...settings });
    clients.push(client);
    return client;
  };

  it.each<[string, (request: HttpRequest, signal: AbortSignal) => Promise<unknown>]>([
    ['of open', (request, signal) => clientWith({}).open(request, WHAT, { signal })],
    ['of ask', (request, signal) => clientWith({ signal }).ask(request, asked, () => forever)],
    ['of askForBytes', (request, signal) => clientWith({ signal }).askForBytes(request, asked)],
    [
      'of retry',
      (request, signal) =>
        clientWith({ signal }).retry({ what: WHAT, timeoutMs: 0 }, (client) =>
          client.askForBytes(request, asked),
        ),
    ],
    [
      'of a client, in a request with a signal of its own',
      (request, signal) =>
        clientWith({ signal }).open(request, WHAT, { signal: new AbortController().signal }),
    ],
  ])('%s ends it, before it began and while the server is awaited', async (_, call) => {
    const stop = new AbortController();
    const server = await serve([() => stop.abort(reason)]);
    const request = { url: server.url, trust: plain };
    await expect(call(request, AbortSignal.abort(reason))).rejects.toMatchObject(aborted);
    await expect(call(request, stop.signal)).rejects.toMatchObject(aborted);
  });

  it.each([
    ['the answer', { answerMs: 20 }],
    ['the whole request', { totalMs: 20 }],
  ])('is not needed once the limit of %s is over', async (_, limits) => {
    const server = await serve([silent]);
    const request = { url: server.url, trust: plain };
    const asking = clientWith({ limits, tries: 1 }).askForBytes(request, asked);
    await expect(asking).rejects.toMatchObject({ name: 'NetError', code: 'timedOut' });
  });

  const forever = new Promise<never>(() => undefined);
});

describe('a request that is given up', () => {
  it('ends with its signal while it waits for the answer, and while it waits for another try', async () => {
    const control = new AbortController();
    const server = await serve([
      (_request, response) => {
        control.abort();
        response.end();
      },
    ]);
    const { client } = clientOf();
    const request = { url: server.url, trust: plain };
    expect(await failureOf(client.open(request, WHAT, { signal: control.signal }))).toMatchObject({
      code: 'aborted',
    });
    const busy = await serve([answer(503)]);
    const later = new AbortController();
    const patient = new HttpClient({
      environment: {},
      signal: later.signal,
      onWarning: () => later.abort(),
    });
    const asking = patient.askForBytes({ url: busy.url, trust: plain }, asked);
    expect(await failureOf(asking)).toMatchObject({ code: 'aborted' });
    patient.close();
  });

  it('is not sent over a connection that is kept', async () => {
    const server = await serve();
    const { client } = clientOf({ keptConnections: 1 });
    const request = { url: server.url, trust: plain };
    await client.askForBytes(request, asked);
    expect(
      await failureOf(client.open(request, WHAT, { signal: AbortSignal.abort() })),
    ).toMatchObject({
      code: 'aborted',
    });
    await client.askForBytes(request, asked);
    expect(server.requests).toHaveLength(2);
  });

  it('ends while its body is read', async () => {
    const server = await serve([(_request, response) => void response.writeHead(200).write('x')]);
    const { client } = clientOf();
    const control = new AbortController();
    const request = { url: server.url, trust: plain };
    using response = await client.open(request, WHAT, { signal: control.signal });
    const body = response.body({ maxBytes: Infinity });
    expect((await body.next()).value?.toString()).toBe('x');
    control.abort();
    expect(await failureOf(body.next())).toMatchObject({ code: 'aborted' });
  });
});

it('no message holds what was shown to a server that repeats it', async () => {
  const server = await serve([
    (request, response) => void response.writeHead(500).end(request.headers.authorization),
  ]);
  const { client, warnings } = clientOf();
  const request = { url: server.url, trust: plain, authorization: `Bearer ${CANARY}` };
  const failure = await failureOf(client.askForBytes(request, asked));
  expect(failure.message).toContain('with "Bearer ***"');
  expect(inspect([failure, warnings], { depth: 20 })).not.toContain(CANARY);
});

it.each([
  [
    'https://127.0.0.1:1',
    'unreachable',
    'no connection to 127.0.0.1:1: nothing listens there (ECONNREFUSED)',
  ],
  ['https://server.invalid', 'nameResolution', 'the name of server.invalid:443'],
])('of %s it is told that it is %s', async (address, code, text) => {
  const { client } = clientOf();
  const asking = client.askForBytes({ url: new URL(address), trust: plain }, asked);
  const failure = await failureOf(asking);
  expect(failure).toMatchObject({ code, isTransient: true });
  expect(failure.message).toContain(text);
});
