import { createCertificateAuthority, type CertificateAuthority } from '@wins/base/testing';
import { askStatus } from '../index.js';
import { clientOf, closeAll, failureOf, proxy, serve } from '../testing/server-harness.js';
import type { TlsTrust } from './tls-trust.js';

afterEach(closeAll);

const DAY_MS = 86_400_000;
const EXPIRED = {
  notBefore: new Date(Date.now() - 3 * DAY_MS),
  notAfter: new Date(Date.now() - DAY_MS),
};
const NAMES = ['127.0.0.1', 'localhost', 'server.invalid'];
const asked = { what: 'ask', maxBytes: 100 };

/** Serves with a certificate of `issuer`, followed by `sent`. */
function serveBy(issuer: CertificateAuthority, sent: readonly CertificateAuthority[] = []) {
  const { cert, key } = issuer.issue('server', NAMES);
  return serve(undefined, { cert: [cert, ...sent.map((one) => one.cert)].join(''), key });
}

const trustIn = (authorities: readonly CertificateAuthority[]): TlsTrust => ({
  roots: [authorities.map(({ cert }) => cert).join('')],
});

/** Returns whether the client, and the reader of a status, accept the server. */
async function accepted(url: URL, trust: TlsTrust): Promise<readonly boolean[]> {
  const { client } = clientOf();
  const status = { userAgent: 'test', redirects: () => undefined, maxRedirects: 0 };
  const all = [
    client.askForBytes({ url, trust }, asked).then(
      () => true,
      () => false,
    ),
    askStatus(
      { url, trust: { ...trust }, ...status },
      { signal: AbortSignal.timeout(60_000) },
    ).then((code) => code === 200),
  ];
  return await Promise.all(all);
}

function orders<T>(all: readonly T[]): T[][] {
  if (all.length < 2) return [[...all]];
  return all.flatMap((first) =>
    orders(all.filter((one) => one !== first)).map((rest) => [first, ...rest]),
  );
}

const kinds = ['none', 'ownOnly', 'keyId', 'issuerAndSerial'] as const;

describe('authorities of one name verify the certificates of each, in any order', () => {
  it.each(kinds.flatMap((keyIds) => [2, 3].map((count) => [keyIds, count] as const)))(
    'with key ids %s, if there are %d',
    async (keyIds, count) => {
      const all = Array.from({ length: count }, () =>
        createCertificateAuthority('rotated', undefined, { keyIds }),
      );
      const other = createCertificateAuthority('other');
      // Every order puts it in every place.
      const { url } = await serveBy(all[0] ?? other);
      for (const order of orders(all))
        expect(await accepted(url, trustIn([other, ...order]))).toEqual([true, true]);
    },
  );

  it.each(kinds)(
    'with key ids %s, if one was renewed with its key or has expired',
    async (keyIds) => {
      const make = (options: object = {}) =>
        createCertificateAuthority('rotated', undefined, { keyIds, ...options });
      const issuer = make();
      const { url } = await serveBy(issuer);
      const renewed = make({ key: issuer.key, ...EXPIRED });
      const another = make();
      for (const order of orders([issuer, renewed, make(EXPIRED)]))
        expect(await accepted(url, trustIn([another, ...order]))).toEqual([true, true]);
    },
  );

  it('when the bundle has an earlier intermediate authority, and the server sends its own', async () => {
    const root = createCertificateAuthority('root');
    const [earlier, now] = [
      createCertificateAuthority('issuing', root),
      createCertificateAuthority('issuing', root),
    ];
    const { url } = await serveBy(now, [now]);
    for (const order of orders([earlier, root]))
      expect(await accepted(url, trustIn(order))).toEqual([true, true]);
    for (const order of orders([earlier, now, root]))
      expect(await accepted(url, trustIn(order))).toEqual([true, true]);
    expect(await accepted(url, trustIn([earlier]))).toEqual([false, false]);
  });

  it('when the server sends the new one, signed by the earlier one', async () => {
    const keyIds = 'keyId';
    const earlier = createCertificateAuthority('rotated', undefined, { keyIds });
    const now = createCertificateAuthority('rotated', undefined, { keyIds });
    const cross = createCertificateAuthority('rotated', earlier, { keyIds, key: now.key });
    const { url } = await serveBy(now, [cross]);
    for (const trusted of [[earlier], [now], [cross], [earlier, now], [now, earlier]])
      expect(await accepted(url, trustIn(trusted))).toEqual([true, true]);
    const unrelated = createCertificateAuthority('rotated', undefined, { keyIds });
    expect(await accepted(url, trustIn([unrelated]))).toEqual([false, false]);
  });

  it('when one signed the other, and the bundle has both', async () => {
    const earlier = createCertificateAuthority('rotated');
    const now = createCertificateAuthority('rotated', earlier);
    for (const issuer of [earlier, now]) {
      const { url } = await serveBy(issuer, [now]);
      for (const order of orders([earlier, now]))
        expect(await accepted(url, trustIn(order))).toEqual([true, true]);
    }
  });

  it('for a proxy, and for a server behind it', async () => {
    const [earlier, now] = [
      createCertificateAuthority('rotated'),
      createCertificateAuthority('rotated'),
    ];
    const trust = trustIn([earlier, now]);
    const server = await serveBy(now);
    const hosts = { 'server.invalid:443': server.port };
    const door = await proxy({ tls: now.issue('proxy', NAMES), hosts });
    const environment = { HTTPS_PROXY: `https://${door.host}` };
    const { client } = clientOf({ environment, systemRoots: () => trust.roots as string[] });
    const url = new URL('https://server.invalid');
    const { body } = await client.askForBytes({ url, trust }, asked);
    expect(body.toString()).toBe('ok');
    expect(new Set(door.requests.map(({ target }) => target))).toEqual(new Set(Object.keys(hosts)));
  });
});

describe('a server of an authority that shares its name with others', () => {
  const [earlier, now, other] = [
    createCertificateAuthority('rotated'),
    createCertificateAuthority('rotated'),
    createCertificateAuthority('other'),
  ] as const;

  it('costs one connection if OpenSSL takes the right one, or verified it before', async () => {
    const server = await serveBy(now);
    const { client } = clientOf();
    const ask = (trust: TlsTrust) => client.askForBytes({ url: server.url, trust }, asked);
    await ask(trustIn([now, earlier]));
    expect(server.connections()).toBe(1);
    const trust = trustIn([earlier, now]);
    await ask(trust);
    const atFirst = server.connections();
    // Refused, examined, verified.
    expect(atFirst).toBe(1 + 3);
    // Another server of the same host, which another authority has issued.
    const another = await serveBy(earlier);
    await client.askForBytes({ url: another.url, trust }, asked);
    await ask(trust);
    expect(server.connections()).toBe(atFirst + 1);
    expect(another.connections()).toBe(1);
  });

  it('is verified again by all after another rotation', async () => {
    const pairs = [now, earlier, other].map((one) => one.issue('server', NAMES));
    const server = await serve(undefined, pairs[0]);
    const trust = trustIn([earlier, now, other]);
    const { client } = clientOf();
    const ask = () => client.askForBytes({ url: server.url, trust }, asked);
    for (const pair of pairs) {
      server.present(pair);
      await ask();
    }
    server.present(createCertificateAuthority('rotated').issue('server', NAMES));
    expect((await failureOf(ask())).code).toBe('unknownAuthority');
  });

  it.each([
    ['an unknown one', createCertificateAuthority('rotated'), {}, NAMES, 'unknownAuthority'],
    ['a certificate for another host', now, {}, ['elsewhere.invalid'], 'otherHost'],
    ['a certificate that has expired', now, EXPIRED, NAMES, 'certificateExpired'],
  ])('is refused after few connections with %s', async (_title, issuer, options, names, code) => {
    const server = await serve(undefined, issuer.issue('server', names, options));
    for (const trust of [[earlier, now, other], [now, earlier], [now]].map(trustIn)) {
      const before = server.connections();
      const { client } = clientOf();
      const failure = await failureOf(client.askForBytes({ url: server.url, trust }, asked));
      expect(failure.code).toBe(code);
      expect(server.connections() - before).toBeLessThanOrEqual(3);
      expect(await accepted(server.url, trust)).toEqual([false, false]);
    }
    expect(server.requests).toEqual([]);
  });

  it('is refused for its certificate, also if it ends the connection that examines it', async () => {
    const server = await serveBy(createCertificateAuthority('rotated'));
    server.cut((count) => count === 2);
    const { client } = clientOf();
    const trust = trustIn([earlier, now]);
    const failure = await failureOf(client.askForBytes({ url: server.url, trust }, asked));
    expect(failure.code).toBe('unknownAuthority');
    expect(server.connections()).toBe(2);
  });

  it('is refused if the one that signed it has expired', async () => {
    const expired = createCertificateAuthority('rotated', undefined, EXPIRED);
    const server = await serveBy(expired);
    for (const order of orders([earlier, expired])) {
      const trust = trustIn(order);
      const { client } = clientOf();
      const failure = await failureOf(client.askForBytes({ url: server.url, trust }, asked));
      expect(failure.code).toBe('certificateExpired');
    }
  });

  it('is refused if only a certificate that is no authority has signed it', async () => {
    const leaf = earlier.issue('rotated', NAMES);
    const forged = createCertificateAuthority('rotated', undefined, { key: leaf.key });
    const server = await serveBy(forged, [{ ...forged, cert: leaf.cert }]);
    for (const trusted of [[earlier], [earlier, other], [other, now, earlier]])
      expect(await accepted(server.url, trustIn(trusted))).toEqual([false, false]);
  });
});
