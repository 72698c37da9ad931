import { createHash } from 'node:crypto';
import { createCertificateAuthority } from '@wins/base/testing';
import {
  answer,
  cutAfter,
  endless,
  noHttp,
  redirectTo,
  silent,
  stallAfter,
  upgrade,
  type RancherFault,
} from '../testing/index.js';
import {
  CANARY,
  closeServers,
  failureOf,
  proxy,
  rancher,
  settings,
} from '../testing/server-harness.js';
import { establishTrust } from './establish-trust.js';

afterEach(closeServers);

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
/** Options of a server that does not know `CANARY`. */
const stranger = { token: 'another-token' };

describe('a checksum of /cacerts', () => {
  it('makes the certificates in it those that are trusted', async () => {
    const server = await rancher();
    const trust = await establishTrust(
      { server: server.url, caChecksum: server.checksum },
      settings(),
    );
    expect(trust).toMatchObject({
      authority: 'checksum',
      roots: [server.ca],
      caPem: server.ca,
      checksum: server.checksum,
      certificates: [{ pem: server.ca, subject: '"CN=rancher-double"' }],
    });
    expect(trust.server.href).toBe(`${server.url}/`);
    // SNI needs a host name, not an IP address.
    expect(server.requests[0]?.serverName).toBeUndefined();
  });

  it('may be in capital letters, with blanks around it', async () => {
    const server = await rancher();
    const caChecksum = ` ${server.checksum.toUpperCase()}\r\n`;
    const trust = await establishTrust({ server: server.url, caChecksum }, settings());
    expect(trust.authority).toBe('checksum');
  });

  it.each([
    ['with one byte more', (body: string) => `${body}x`],
    ['with one byte less', (body: string) => body.slice(0, -1)],
    ['with other line breaks', (body: string) => body.replace(/\n/g, '\r\n')],
    ['of another authority', () => createCertificateAuthority('other').cert],
    ['that is empty', () => ''],
  ])('refuses a body %s, and tells both digests', async (_title, change) => {
    const server = await rancher();
    const caChecksum = server.checksum;
    server.caCerts = change(server.caCerts);
    const failure = await failureOf(
      establishTrust({ server: server.url, caChecksum, token: CANARY }, settings()),
    );
    expect(failure.code).toBe('checksumMismatch');
    expect(failure.message).toContain(caChecksum);
    expect(failure.message).toContain(sha256(server.caCerts));
    expect(server.requests).toHaveLength(1);
  });

  it('of an empty body is not enough', async () => {
    const server = await rancher({ caCerts: '' });
    const wanted = { server: server.url, caChecksum: server.checksum };
    expect(await failureOf(establishTrust(wanted, settings()))).toMatchObject({ code: 'badShape' });
  });

  it('decides alone: a token is not even asked about', async () => {
    const server = await rancher();
    const wanted = { server: server.url, caChecksum: server.checksum, token: CANARY };
    await establishTrust(wanted, settings());
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      undefined,
    ]);
  });

  it.each(['abc', 'x'.repeat(64), `${'0'.repeat(64)} `.repeat(2)])(
    'is refused as %j before anything is asked',
    async (caChecksum) => {
      const server = await rancher();
      const failure = await failureOf(
        establishTrust({ server: server.url, caChecksum }, settings()),
      );
      expect(failure.code).toBe('invalidRequest');
      expect(server.requests).toEqual([]);
    },
  );

  it('is good for a chain of authorities', async () => {
    const server = await rancher({ certificate: 'chain' });
    const wanted = { server: server.url, caChecksum: server.checksum };
    expect((await establishTrust(wanted, settings())).authority).toBe('checksum');
  });

  it('is good for an authority that another one has signed', async () => {
    const above = createCertificateAuthority('above');
    const server = await rancher({ authority: createCertificateAuthority('below', above) });
    const wanted = { server: server.url, caChecksum: server.checksum };
    expect((await establishTrust(wanted, settings())).roots).toEqual([server.ca]);
  });

  it.each([
    ['expired', 'certificateExpired'],
    ['notYetValid', 'certificateExpired'],
    ['otherHost', 'otherHost'],
    ['otherAuthority', 'unknownAuthority'],
  ] as const)('is not enough for a server whose certificate is %s', async (certificate, code) => {
    const server = await rancher({ certificate });
    const wanted = { server: server.url, caChecksum: server.checksum };
    expect(await failureOf(establishTrust(wanted, settings()))).toMatchObject({ code });
  });

  it('lets a server with a certificate of the system be known by that, with a warning', async () => {
    const server = await rancher();
    const other = createCertificateAuthority('other');
    const systemRoots = () => [server.ca];
    server.caCerts = other.cert;
    const own = settings({ systemRoots });
    const wanted = { server: server.url, caChecksum: server.checksum };
    expect(await establishTrust(wanted, own)).toMatchObject({
      authority: 'checksum',
      roots: [server.ca],
      caPem: other.cert,
    });
    expect(own.warnings).toEqual([expect.stringContaining('from one of the system')]);
    expect(await failureOf(establishTrust({ ...wanted, strictTls: true }, own))).toMatchObject({
      code: 'unknownAuthority',
    });
  });

  it('of before is refused once the server has another authority', async () => {
    const server = await rancher();
    const wanted = { server: server.url, caChecksum: server.checksum };
    await establishTrust(wanted, settings());
    server.rotate();
    expect(await failureOf(establishTrust(wanted, settings()))).toMatchObject({
      code: 'checksumMismatch',
    });
    const trust = await establishTrust({ ...wanted, caChecksum: server.checksum }, settings());
    expect(trust.caPem).toBe(server.ca);
  });
});

describe('a proof that the server knows the token', () => {
  it('makes the certificates of /cacerts those that are trusted, and only a hash leaves the node', async () => {
    const server = await rancher();
    const trust = await establishTrust({ server: server.url, token: CANARY }, settings());
    expect(trust).toMatchObject({ authority: 'proof', roots: [server.ca] });
    // The first attempt fails in the TLS handshake, so it is not among the requests.
    const [asked, used] = server.requests;
    expect(asked?.headers).toMatchObject({
      authorization: `Bearer ${createHash('sha256').update(CANARY).digest('base64')}`,
      'x-cattle-nonce': expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    });
    expect(used?.headers).not.toHaveProperty('authorization');
    expect(JSON.stringify(server.requests)).not.toContain(CANARY);
  });

  it('is asked for with another number each time', async () => {
    const server = await rancher();
    const wanted = { server: server.url, token: CANARY };
    for (let count = 0; count < 2; count += 1) await establishTrust(wanted, settings());
    const nonces = server.requests.flatMap(({ headers }) => headers['x-cattle-nonce'] ?? []);
    expect(new Set(nonces).size).toBe(2);
  });

  it('is not accepted if it answers another request', async () => {
    const server = await rancher();
    const wanted = { server: server.url, token: CANARY };
    await establishTrust(wanted, settings());
    const [old] = server.requests;
    const replay: RancherFault = ({ headers }, _response, proceed) => {
      Object.assign(headers, { 'x-cattle-nonce': old?.headers['x-cattle-nonce'] });
      proceed();
    };
    server.script('/cacerts', [replay]);
    expect(await failureOf(establishTrust(wanted, settings()))).toMatchObject({
      code: 'proofFailed',
    });
  });

  it('is not accepted for another body', async () => {
    const server = await rancher();
    const real = server.caCerts;
    const between: RancherFault = (_request, response, proceed) => {
      const end = response.end.bind(response);
      response.end = (() => end(real.replace(/\n/g, '\r\n'))) as typeof response.end;
      proceed();
    };
    server.script('/cacerts', [between]);
    const wanted = { server: server.url, token: CANARY };
    expect(await failureOf(establishTrust(wanted, settings()))).toMatchObject({
      code: 'proofFailed',
    });
  });

  it.each(['AAAA', 'not base64!', Buffer.alloc(64).toString('base64')])(
    'is not believed as %s',
    async (hash) => {
      const server = await rancher();
      server.script('/cacerts', [answer(200, server.caCerts, { 'x-cattle-hash': hash })]);
      const wanted = { server: server.url, token: CANARY };
      expect(await failureOf(establishTrust(wanted, settings()))).toMatchObject({
        code: 'proofFailed',
      });
    },
  );

  it('of an empty /cacerts is not enough for a server that the system does not know', async () => {
    const server = await rancher({ caCerts: '' });
    const wanted = { server: server.url, token: CANARY };
    expect(await failureOf(establishTrust(wanted, settings()))).toMatchObject({
      code: 'untrusted',
    });
  });
});

describe('a server that nothing vouches for', () => {
  it.each([
    ['without a token', undefined],
    ['with a token that the server does not know', CANARY],
  ])(
    'is refused %s, with a message that says what to provide, and gets no token',
    async (_title, token) => {
      const server = await rancher(stranger);
      const wanted = { server: server.url, ...(token !== undefined && { token }) };
      const failure = await failureOf(establishTrust(wanted, settings()));
      expect(failure.code).toBe('untrusted');
      expect(failure.message).toContain('CATTLE_CA_CHECKSUM');
      expect(failure.message).toContain('from an unknown authority');
      expect(JSON.stringify(server.requests)).not.toContain(CANARY);
    },
  );

  it('is refused with the token of a machine, which cannot be proven', async () => {
    const server = await rancher({ ...stranger, machineTokens: [CANARY] });
    const failure = await failureOf(
      establishTrust({ server: server.url, token: CANARY }, settings()),
    );
    expect(failure.code).toBe('untrusted');
    expect(failure.message).toContain('bootstrap token');
  });
});

describe('the authorities of the system', () => {
  it('are enough, and /cacerts may be empty', async () => {
    const server = await rancher({ caCerts: '' });
    const systemRoots = () => [server.ca];
    const wanted = { server: server.url, token: CANARY };
    expect(await establishTrust(wanted, settings({ systemRoots }))).toMatchObject({
      authority: 'system',
      roots: [server.ca],
      certificates: [],
      caPem: '',
    });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('give way to those of /cacerts where TLS is strict', async () => {
    const server = await rancher();
    const other = createCertificateAuthority('other');
    const systemRoots = () => [other.cert, server.ca];
    const wanted = { server: server.url, strictTls: true };
    expect(await establishTrust(wanted, settings({ systemRoots }))).toMatchObject({
      authority: 'system',
      roots: [server.ca],
    });
  });

  it('are not enough where TLS is strict and /cacerts is empty', async () => {
    const server = await rancher({ caCerts: '' });
    const own = settings({ systemRoots: () => [server.ca] });
    const failure = await failureOf(establishTrust({ server: server.url, strictTls: true }, own));
    expect(failure.code).toBe('strictWithoutCa');
  });
});

describe('what /cacerts holds', () => {
  it('may be junk between certificates, which is dropped with a warning', async () => {
    const server = await rancher();
    const { key } = createCertificateAuthority('other');
    server.caCerts = `Bag Attributes\n    friendlyName: x\n${server.ca}\n\n${key}${server.ca}`;
    const own = settings();
    const trust = await establishTrust({ server: server.url, caChecksum: server.checksum }, own);
    expect(trust.caPem).toBe(server.ca);
    expect(own.warnings).toEqual([expect.stringContaining('a private key')]);
    const [, secret = ''] = key.split('\n');
    expect(JSON.stringify([trust, own.warnings])).not.toContain(secret);
  });

  it('must be certificates', async () => {
    const server = await rancher({ caCerts: '<html>not found</html>' });
    const wanted = { server: server.url, caChecksum: server.checksum };
    expect(await failureOf(establishTrust(wanted, settings()))).toMatchObject({ code: 'badShape' });
  });
});

describe('a server that behaves badly', () => {
  const quick = { limits: { connectMs: 60_000, answerMs: 300, idleMs: 300, totalMs: 60_000 } };
  const faults: [string, RancherFault, string][] = [
    ['never answers', silent, 'timedOut'],
    ['answers a part, and stalls', stallAfter('-----BEGIN'), 'timedOut'],
    ['ends the connection without an answer', cutAfter(0), 'interrupted'],
    ['ends it in the head', cutAfter(20), 'interrupted'],
    ['answers without an end', endless(), 'tooLarge'],
    ['declares too much', answer(200, '', { 'content-length': '2000000' }), 'tooLarge'],
    ['answers with an encoding', answer(200, 'x', { 'content-encoding': 'gzip' }), 'badShape'],
    ['answers with no HTTP', noHttp, 'badShape'],
    ['changes the protocol', upgrade, 'interrupted'],
    ['answers 404', answer(404, 'none'), 'badStatus'],
    ['answers 503', answer(503, 'later'), 'badStatus'],
    ['sends to another host', redirectTo('https://192.0.2.1/cacerts'), 'redirectRefused'],
    ['sends to http', redirectTo('http://127.0.0.1/cacerts'), 'redirectRefused'],
    ['sends to itself for ever', redirectTo('/cacerts'), 'redirectRefused'],
    ['sends to no address', redirectTo('javascript:alert(1)'), 'redirectRefused'],
  ];

  it.each(faults)('%s: nothing is trusted', async (_title, fault, code) => {
    const server = await rancher();
    server.script('/cacerts', [fault], { forEver: true });
    const wanted = { server: server.url, caChecksum: server.checksum, timeoutMs: 0 };
    const failure = await failureOf(
      establishTrust(wanted, settings(code === 'timedOut' ? quick : {})),
    );
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(/^cannot trust https:\/\/127\.0\.0\.1:\d+: /);
  });

  it('once is asked again', async () => {
    const server = await rancher();
    server.script('/cacerts', [answer(503, '', { 'retry-after': '7' }), cutAfter(0)]);
    const own = settings();
    const wanted = { server: server.url, caChecksum: server.checksum };
    expect((await establishTrust(wanted, own)).authority).toBe('checksum');
    expect(own.warnings).toEqual([
      expect.stringContaining('found status 503'),
      expect.stringContaining('ended the connection'),
    ]);
  });
});

describe('a server that cannot be reached', () => {
  it.each([
    [
      'https://127.0.0.1:1',
      'unreachable',
      'no connection to 127.0.0.1:1: nothing listens there (ECONNREFUSED)',
    ],
    ['https://rancher.invalid', 'nameResolution', 'the name of rancher.invalid:443'],
  ])('as %s says which step failed, and how often it was tried', async (server, code, text) => {
    const caChecksum = '0'.repeat(64);
    const failure = await failureOf(establishTrust({ server, caChecksum }, settings()));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(text);
    expect(failure.message).toMatch(/; tried \d+ times in \d+s$/);
  });

  it('is not asked where the signal is aborted', async () => {
    const server = await rancher();
    const own = settings({ signal: AbortSignal.abort() });
    expect(await failureOf(establishTrust({ server: server.url }, own))).toMatchObject({
      code: 'aborted',
    });
    expect(server.requests).toEqual([]);
  });

  it('is given up when the signal is aborted meanwhile', async () => {
    const server = await rancher();
    server.script('/cacerts', [silent]);
    const control = new AbortController();
    const asking = establishTrust(
      { server: server.url, caChecksum: server.checksum },
      settings({ signal: control.signal }),
    );
    await server.received('/cacerts');
    control.abort();
    expect(await failureOf(asking)).toMatchObject({ code: 'aborted', isTransient: false });
  });
});

describe('the address of the server', () => {
  it.each([
    'rancher.example.com',
    'ftp://rancher.example.com',
    `https://user:${CANARY}@rancher.example.com`,
    `https://rancher.example.com/?token=${CANARY}`,
    'http://rancher.example.com',
    '',
  ])('is refused as %j', async (server) => {
    const failure = await failureOf(establishTrust({ server }, settings()));
    expect(failure.code).toBe('invalidRequest');
    expect(failure.message).not.toContain(CANARY);
  });

  it('may have a path, and slashes at its end', async () => {
    const server = await rancher();
    server.script('/below/cacerts', [answer(200, server.caCerts)], { forEver: true });
    const wanted = { server: `${server.url}/below//`, caChecksum: server.checksum };
    const trust = await establishTrust(wanted, settings());
    expect(trust.server.href).toBe(`${server.url}/below`);
  });

  it('may be without TLS where that is allowed', async () => {
    const ca = createCertificateAuthority('other').cert;
    const server = await rancher({ plain: true, caCerts: ca });
    const own = settings({ allowHttp: true });
    expect(await establishTrust({ server: server.url }, own)).toMatchObject({
      authority: 'plain',
      caPem: ca,
    });
    const caChecksum = '0'.repeat(64);
    expect(await failureOf(establishTrust({ server: server.url, caChecksum }, own))).toMatchObject({
      code: 'checksumMismatch',
    });
  });

  it('is asked through a proxy', async () => {
    const server = await rancher({ names: ['rancher.invalid'] });
    const between = await proxy({ hosts: { 'rancher.invalid:443': server.port } });
    const environment = { HTTPS_PROXY: between.host };
    const wanted = { server: 'https://rancher.invalid', caChecksum: server.checksum };
    const trust = await establishTrust(wanted, settings({ environment }));
    expect(trust.authority).toBe('checksum');
    expect(server.requests[0]?.serverName).toBe('rancher.invalid');
    expect(between.requests[0]).toMatchObject({
      method: 'CONNECT',
      target: 'rancher.invalid:443',
    });
  });
});
