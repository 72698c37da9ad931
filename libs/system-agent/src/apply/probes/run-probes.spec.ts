import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import https, { type ServerOptions } from 'node:https';
import net, { type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FakeClock, createCertificateAuthority } from '@wins/base/testing';
import type { AgentEvent } from '../../agent-event.js';
import type { ProbeStatus } from '../pass.js';
import { Warnings } from '../warnings.js';
import { parsePlan } from '../../plan/parse-plan.js';
import { Prober } from './http-probe.js';
import { runProbes } from './run-probes.js';

const servers: Server[] = [];
let clock: FakeClock;
let events: AgentEvent[];
let warnings: Warnings;
const prober = new Prober();

beforeEach(() => {
  clock = new FakeClock();
  events = [];
  warnings = new Warnings((event) => events.push(event));
});

afterEach(() => {
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) (server as http.Server).closeAllConnections();
    server.close();
  }
});

interface PeerSocket {
  getPeerCertificate(): { readonly subject?: { readonly CN?: string } };
}

interface Asking {
  readonly before?: Readonly<Record<string, ProbeStatus>>;
  readonly isApplied?: boolean;
  readonly signal?: AbortSignal;
}

async function ask(
  probes: object,
  { before = {}, isApplied = false, signal = new AbortController().signal }: Asking = {},
): Promise<Readonly<Record<string, ProbeStatus>>> {
  const pass = {
    ...parsePlan(Buffer.from(JSON.stringify({ probes }))),
    source: 'remote',
    outputs: {},
    periodic: {},
    probes: before,
    startedAt: clock.now(),
    ...(isApplied ? { oneTime: { attempt: 1 } } : {}),
  };
  const onEvent = (event: AgentEvent): void => void events.push(event);
  return runProbes({ pass, clock, onEvent, warnings, prober, signal });
}

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function serve(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(http.createServer(listener))}`;
}

const status =
  (code: number, headers: Readonly<Record<string, string>> = {}) =>
  (_: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(code, headers).end('body');
  };

const isWell = async (url: string, more: object = {}): Promise<boolean> => {
  const { p } = await ask({ p: { httpGet: { url, ...more } } });
  return p?.healthy === true;
};

describe('a probe', () => {
  it('asks as the kubelet does', async () => {
    let seen: IncomingMessage | undefined;
    const url = await serve((request, response) => {
      seen = request;
      response.end();
    });
    expect(await isWell(`${url}/path?query=1`)).toBe(true);
    expect(seen).toMatchObject({ method: 'GET', url: '/path?query=1' });
    expect(seen?.headers).toEqual({
      host: url.slice('http://'.length),
      'user-agent': 'kube-probe/.',
      accept: '*/*',
      connection: 'close',
    });
  });

  it.each([
    [101, false],
    [200, true],
    [204, true],
    [299, true],
    [300, false],
    [304, false],
    [399, false],
    [404, false],
    [500, false],
  ])('takes %i for well: %s', async (code, expected) => {
    expect(await isWell(await serve(status(code)))).toBe(expected);
  });

  it('follows redirects on the same host, also to another port, ten at most', async () => {
    const target = await serve(status(200));
    expect(await isWell(await serve(status(302, { location: `${target}/there` })))).toBe(true);
    let asked = 0;
    const loop = await serve((request, response) => {
      asked += 1;
      status(301, { location: '/again' })(request, response);
    });
    expect(await isWell(loop)).toBe(false);
    expect(asked).toBe(10);
  });

  it('does not follow a redirect to another host', async () => {
    let asked = 0;
    const port = await listen(
      http.createServer((_, response) => {
        asked += 1;
        response.end();
      }),
    );
    const location = `http://localhost:${port}/`;
    expect(await isWell(await serve(status(302, { location })))).toBe(false);
    expect(asked).toBe(0);
  });

  it('fails where nothing answers, or something that is not HTTP, or breaks off', async () => {
    const closed = http.createServer();
    const port = await listen(closed);
    await new Promise((resolve) => closed.close(resolve));
    expect(await isWell(`http://127.0.0.1:${port}/`)).toBe(false);
    const talker = await listen(net.createServer((socket) => socket.end('no HTTP\r\n\r\n')));
    expect(await isWell(`http://127.0.0.1:${talker}/`)).toBe(false);
    const half = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    expect(await isWell(half)).toBe(false);
  });

  it('shows the user and the password of its address, also after a redirect', async () => {
    const seen: unknown[] = [];
    const url = await serve((request, response) => {
      seen.push(request.headers.authorization);
      if (request.url === '/') response.writeHead(302, { location: '/there' }).end();
      else response.end();
    });
    expect(await isWell(url.replace('://', '://us%20er:word@'))).toBe(true);
    const shown = `Basic ${Buffer.from('us er:word').toString('base64')}`;
    expect(seen).toEqual([shown, shown]);
  });

  it('fails if the server changes the protocol of the connection', async () => {
    const url = await serve(({ socket }) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    });
    expect(await isWell(url)).toBe(false);
  });

  it('is well by an answer that ends with its connection', async () => {
    const answer = 'HTTP/1.1 200 OK\r\n\r\nbody';
    const port = await listen(net.createServer((socket) => socket.end(answer)));
    expect(await isWell(`http://127.0.0.1:${port}/`)).toBe(true);
  });

  it('reads no more than a little of an answer without end', async () => {
    const url = await serve((_, response) => {
      const write = (): void => {
        if (response.write(Buffer.alloc(64 * 1024))) setImmediate(write);
      };
      response.on('drain', write);
      write();
    });
    expect(await isWell(url)).toBe(true);
  });

  it.each([
    ['silent', 3, 3000],
    ['silent', undefined, 10_000],
    ['without end of its headers', 2, 2000],
  ])(
    'of a server that stays %s fails after its timeout of %p s',
    async (kind, timeoutSeconds, ms) => {
      const connected: (() => void)[] = [];
      const isConnected = new Promise<void>((resolve) => connected.push(resolve));
      const port = await listen(
        net.createServer((socket) => {
          socket.on('error', () => undefined);
          if (kind !== 'silent') socket.write('HTTP/1.1 200 OK\r\nX: ');
          for (const tell of connected) tell();
        }),
      );
      const asked = ask({ p: { timeoutSeconds, httpGet: { url: `http://127.0.0.1:${port}/` } } });
      await isConnected;
      expect(clock.waits).toEqual([ms]);
      clock.advance(ms);
      expect(await asked).toMatchObject({ p: { failureCount: 1 } });
      expect(clock.waits).toEqual([]);
    },
  );

  it('of an address that cannot be read keeps its status, and that is told once', async () => {
    const probes = { bad: { httpGet: { url: 'http://[::bad/' } } };
    const none = { healthy: false, successCount: 0, failureCount: 0 };
    expect(await ask(probes)).toEqual({ bad: none });
    await ask(probes);
    expect(events).toEqual([expect.objectContaining({ kind: 'warning' })]);
  });

  it.each(['ftp://127.0.0.1/', '', 'relative', 'file:///etc/passwd'])(
    'of the address %j fails',
    async (url) => {
      expect(await ask({ p: { httpGet: { url } } })).toMatchObject({ p: { failureCount: 1 } });
    },
  );

  it('without an address fails', async () => {
    expect(await ask({ p: {} })).toMatchObject({ p: { failureCount: 1 } });
  });
});

describe('many probes', () => {
  it('are asked at once, and leave nothing at the signal of the agent', async () => {
    const waiting: ServerResponse[] = [];
    const url = await serve((_, response) => {
      waiting.push(response);
      if (waiting.length === 50) for (const one of waiting) one.end();
    });
    const names = Array.from({ length: 50 }, (_, index) => [`p${index}`, { httpGet: { url } }]);
    const { signal } = new AbortController();
    const statuses = await ask(Object.fromEntries(names) as object, { signal });
    expect(Object.values(statuses).filter(({ healthy }) => healthy)).toHaveLength(50);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('counters', () => {
  it('stop at their thresholds, and health changes there', async () => {
    let code = 200;
    const url = await serve((request, response) => status(code)(request, response));
    const probe = { httpGet: { url }, successThreshold: 2, failureThreshold: 3 };
    let before: Readonly<Record<string, ProbeStatus>> = {};
    const next = async (): Promise<string> => {
      before = await ask({ p: probe }, { before });
      const { healthy, successCount, failureCount } = before['p'] as ProbeStatus;
      return `${healthy ? 'well' : 'ill'} ${successCount} ${failureCount}`;
    };
    expect([await next(), await next(), await next()]).toEqual(['ill 1 0', 'well 2 0', 'well 2 0']);
    code = 500;
    expect([await next(), await next(), await next(), await next()]).toEqual([
      'well 0 1',
      'well 0 2',
      'ill 0 3',
      'ill 0 3',
    ]);
    code = 200;
    expect(await next()).toBe('ill 1 0');
    expect(events.map((event) => event.kind === 'probeChanged' && event.healthy)).toEqual([
      true,
      false,
    ]);
  });

  it('of probes that the plan no longer has stay', async () => {
    const old = { healthy: true, successCount: 1, failureCount: 0 };
    expect(await ask({ p: {} }, { before: { old } })).toMatchObject({
      old,
      p: { failureCount: 1 },
    });
  });
});

describe('the delay of a probe', () => {
  it('is waited for in passes that apply, all at once', async () => {
    const url = await serve(status(200));
    const probes = {
      a: { initialDelaySeconds: 4, httpGet: { url } },
      b: { initialDelaySeconds: 2, httpGet: { url } },
    };
    const asked = ask(probes, { isApplied: true });
    await clock.waiting();
    expect(clock.waits).toEqual([2000, 4000]);
    clock.advance(4000);
    expect(await asked).toMatchObject({ a: { healthy: true }, b: { healthy: true } });
    expect(await ask(probes)).toMatchObject({ a: { healthy: true } });
  });

  it('ends when the agent stops', async () => {
    const stop = new AbortController();
    const reason = new Error('stop');
    const asked = ask({ p: { initialDelaySeconds: 4 } }, { isApplied: true, signal: stop.signal });
    await clock.waiting();
    stop.abort(reason);
    await expect(asked).rejects.toBe(reason);
  });
});

describe('TLS', () => {
  const authority = createCertificateAuthority('probes');
  const other = createCertificateAuthority('others');
  let folder: string;
  const file = (name: string): string => path.join(folder, name);

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'probes-'));
    const client = other.issue('client');
    writeFileSync(file('ca'), authority.cert);
    writeFileSync(file('other-ca'), other.cert);
    writeFileSync(file('cert'), client.cert);
    writeFileSync(file('key'), client.key);
    writeFileSync(file('garbage'), 'garbage');
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    writeFileSync(file('broken-and-ca'), broken + authority.cert);
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const serveTls = async (options: ServerOptions = {}): Promise<string> => {
    const { cert, key } = authority.issue('server', ['127.0.0.1']);
    const server = https.createServer({ cert, key, ...options }, (request, response) => {
      const socket = request.socket as unknown as PeerSocket;
      const { subject } = socket.getPeerCertificate();
      response.writeHead(subject?.CN === 'client' || !options.requestCert ? 200 : 403).end();
    });
    return `https://127.0.0.1:${await listen(server)}/`;
  };

  it('trusts the authority of the plan, and no other', async () => {
    const url = await serveTls();
    expect(await isWell(url, { caCert: file('ca') })).toBe(true);
    expect(await isWell(url, { caCert: file('other-ca') })).toBe(false);
    expect(await isWell(url)).toBe(false);
    expect(events.filter(({ kind }) => kind === 'warning')).toEqual([]);
  });

  it('trusts an authority that another one has signed, and a certificate by itself', async () => {
    const between = createCertificateAuthority('between', other);
    const { cert, key } = between.issue('server', ['127.0.0.1']);
    writeFileSync(file('between'), between.cert);
    writeFileSync(file('leaf'), cert);
    const url = await serveTls({ cert, key });
    expect(await isWell(url, { caCert: file('between') })).toBe(true);
    expect(await isWell(url, { caCert: file('leaf') })).toBe(true);
    expect(await isWell(url, { caCert: file('other-ca') })).toBe(false);
  });

  it('trusts what can be read of a file with a broken block, and that is told', async () => {
    expect(await isWell(await serveTls(), { caCert: file('broken-and-ca') })).toBe(true);
    const warnings = events.filter(({ kind }) => kind === 'warning');
    expect(warnings).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(/^ignoring block 1 of ".*broken-and-ca"/) as unknown,
      }),
    ]);
  });

  it('does not accept a certificate of another host', async () => {
    const { cert, key } = authority.issue('server', ['example.com']);
    expect(await isWell(await serveTls({ cert, key }), { caCert: file('ca') })).toBe(false);
  });

  it('shows the certificate of the plan', async () => {
    const url = await serveTls({ requestCert: true, ca: other.cert, rejectUnauthorized: false });
    const pair = { clientCert: file('cert'), clientKey: file('key') };
    expect(await isWell(url, { caCert: file('ca'), ...pair })).toBe(true);
    expect(await isWell(url, { caCert: file('ca') })).toBe(false);
  });

  it('accepts any certificate when it is insecure, and shows none', async () => {
    const url = await serveTls({ requestCert: true, ca: other.cert, rejectUnauthorized: false });
    const pair = { clientCert: file('cert'), clientKey: file('key') };
    expect(await isWell(await serveTls(), { insecure: true })).toBe(true);
    expect(await isWell(url, { insecure: true, ...pair })).toBe(false);
  });

  it.each(['missing', 'garbage'])(
    'goes on without a file that is %s, and that is told once',
    async (name) => {
      const url = await serve(status(200));
      const bad = { caCert: file(name), clientCert: file(name), clientKey: file('key') };
      expect(await isWell(url, bad)).toBe(true);
      await isWell(url, bad);
      expect(events.filter(({ kind }) => kind === 'warning')).toHaveLength(1);
    },
  );
});
