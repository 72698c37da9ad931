import { once as eventOnce } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { createCertificateAuthority } from '@wins/base/testing';
import type { HttpSettings, TlsTrust } from '../index.js';
import {
  clientOf,
  closeAll,
  failureOf,
  proxy,
  serve,
  serveTls,
} from '../testing/server-harness.js';

afterEach(closeAll);

const PASSWORD = 'canary:of@a/proxy';
const TOKEN = 'canary-of-a-token-0123456789';
const user = { name: 'us er', password: PASSWORD };

async function start(options: Partial<Parameters<typeof proxy>[0]> = {}) {
  const { server: behind, root, between: middle } = await serveTls(['server.invalid']);
  const between = await proxy({ hosts: { 'server.invalid:443': behind.port }, ...options });
  return { behind, between, trust: { roots: [root, middle] } };
}
const addressOf = (host: string, scheme = 'http') =>
  `${scheme}://${encodeURIComponent(user.name)}:${encodeURIComponent(PASSWORD)}@${host}`;

async function ask(trust: TlsTrust, settings: HttpSettings, address = 'https://server.invalid/x') {
  const { client } = clientOf({ tries: 1, ...settings });
  const request = { url: new URL(address), trust, authorization: `Bearer ${TOKEN}` };
  await client.askForBytes(request, { what: 'ask the server', maxBytes: 100 });
}

describe('a server behind a proxy', () => {
  it('is asked through a tunnel, by the user and the password of the address', async () => {
    const { between, trust } = await start({ user });
    const environment = { https_proxy: addressOf(between.host) };
    await ask(trust, { environment });
    expect(between.requests).toEqual([
      expect.objectContaining({ method: 'CONNECT', target: 'server.invalid:443' }),
    ]);
  });

  it('gets the token; the proxy sees neither that nor the headers', async () => {
    const { behind, between, trust } = await start();
    const environment = { HTTPS_PROXY: between.host };
    await ask(trust, { environment }, 'https://server.invalid/canary-id');
    expect(behind.requests.at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(between.tunnelled().length).toBeGreaterThan(0);
    const seen = between.tunnelled().toString('latin1') + inspect(between.requests);
    expect(seen).not.toContain(TOKEN);
    expect(seen).not.toContain('canary-id');
  });

  it('is asked through a proxy that is itself asked over TLS', async () => {
    const authority = createCertificateAuthority('authority of the proxy');
    const tls = authority.issue('proxy', ['127.0.0.1']);
    const { between, trust } = await start({ tls, user });
    const environment = { HTTPS_PROXY: addressOf(between.host, 'https') };
    await ask(trust, { environment, systemRoots: () => [authority.cert] });
    const failure = await failureOf(ask(trust, { environment }));
    expect(failure).toMatchObject({ code: 'proxyFailed', isTransient: false });
    expect(failure.message).toContain(`the proxy ${between.host}: the certificate of`);
  });

  it('is asked without it where NO_PROXY has its name', async () => {
    const { between, trust } = await start();
    const environment = { HTTPS_PROXY: between.host, NO_PROXY: '.invalid' };
    const failure = await failureOf(ask(trust, { environment }));
    expect(failure.code).toBe('nameResolution');
    expect(between.requests).toEqual([]);
  });

  it('is known by its own certificate, whatever the proxy does', async () => {
    const { between } = await start();
    const other = createCertificateAuthority('other');
    const environment = { HTTPS_PROXY: between.host };
    const failure = await failureOf(ask({ roots: [other.cert] }, { environment }));
    expect(failure.code).toBe('unknownAuthority');
  });

  it('without TLS is asked by its whole address', async () => {
    const behind = await serve();
    const between = await proxy({ user, hosts: { 'server.invalid:80': behind.port } });
    const address = 'http://server.invalid/healthz';
    await ask({ roots: [] }, { environment: { HTTP_PROXY: addressOf(between.host) } }, address);
    expect(between.requests).toEqual([
      expect.objectContaining({ method: 'GET', target: 'http://server.invalid/healthz' }),
    ]);
    const environment = { HTTP_PROXY: `http://x:y@${between.host}` };
    const failure = await failureOf(ask({ roots: [] }, { environment }, address));
    expect(failure).toMatchObject({ code: 'proxyFailed', status: 407 });
  });
});

describe('a proxy that does not lead to the server', () => {
  it.each([
    [
      'wants another password',
      { user: { ...user, password: 'other' } },
      407,
      false,
      'Set valid credentials in HTTPS_PROXY',
    ],
    ['forbids it', { status: 403 }, 403, false, 'allows server.invalid:443'],
    ['does not find it', { hosts: {} }, 502, true, 'Check that it allows'],
  ])(
    'because it %s is told, without the password',
    async (_title, options, status, isTransient, text) => {
      const { between, trust } = await start(options);
      const environment = { HTTPS_PROXY: addressOf(between.host) };
      const failure = await failureOf(ask(trust, { environment }));
      expect(failure).toMatchObject({ code: 'proxyFailed', status, isTransient });
      expect(failure.message).toContain(`the proxy ${between.host}`);
      expect(failure.message).toContain(text);
      for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)])
        expect(inspect(failure)).not.toContain(secret);
    },
  );

  it.each([
    ['http://127.0.0.1:1', 'it cannot be reached: nothing listens there (ECONNREFUSED)'],
    ['http://proxy.invalid:3128', 'the proxy proxy.invalid:3128: its name cannot be resolved'],
  ])('%s', async (address, text) => {
    const { trust } = await start();
    const environment = { HTTPS_PROXY: address };
    const failure = await failureOf(ask(trust, { environment }));
    expect(failure).toMatchObject({ code: 'proxyFailed', isTransient: true });
    expect(failure.message).toContain(text);
  });

  it('because it says nothing', async () => {
    const { between, trust } = await start({ isSilent: true });
    const limits = { connectMs: 300 };
    const environment = { HTTPS_PROXY: between.host };
    const failure = await failureOf(ask(trust, { environment, limits }));
    expect(failure).toMatchObject({ code: 'timedOut' });
    expect(failure.message).toContain(`the proxy ${between.host} did not answer within 300 ms`);
  });

  it('because it speaks in the place of the server', async () => {
    const { trust } = await start();
    const between = createServer((client) => {
      client
        .on('error', () => undefined)
        .once('data', () => {
          client.write('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\nok');
        });
    });
    between.listen(0, '127.0.0.1');
    await eventOnce(between, 'listening');
    const { port } = between.address() as AddressInfo;
    const environment = { HTTPS_PROXY: `127.0.0.1:${port}` };
    const failure = await failureOf(ask(trust, { environment }));
    between.close();
    expect(failure.code).toBe('tlsFailed');
  });

  it('because it is none: its address is not repeated', async () => {
    const { trust } = await start();
    const environment = { HTTPS_PROXY: 'socks5://user:canary@proxy' };
    const failure = await failureOf(ask(trust, { environment }));
    expect(failure.code).toBe('invalidRequest');
    expect(failure.message).toContain('cannot use HTTPS_PROXY');
    expect(inspect(failure)).not.toContain('canary');
  });
});
