import { createCertificateAuthority } from '@wins/base/testing';
import fc from 'fast-check';
import { judgeConnectionInfo, keepConnectionInfo } from './connection-info.js';

const CANARY = 'canary-of-a-token';
const authority = createCertificateAuthority('authority');
const other = createCertificateAuthority('other');
const client = authority.issue('client');
const BROKEN = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

type Json = Readonly<Record<string, unknown>>;

function kubeconfig(cluster: Json = {}, user: Json = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    preferences: {},
    'current-context': 'agent',
    clusters: [
      { name: 'other', cluster: { server: 'https://other', 'certificate-authority': '/etc/ca' } },
      { name: 'agent', cluster: { server: 'https://rancher:8443/k8s/clusters/local', ...cluster } },
    ],
    contexts: [{ name: 'agent', context: { cluster: 'agent', user: 'agent' } }],
    users: [
      { name: 'other', user: { exec: { command: 'sh' } } },
      { name: 'agent', user: { token: CANARY, ...user } },
    ],
  };
}

function infoText(kubeConfig: Json | string, more: Json = {}): string {
  const text = typeof kubeConfig === 'string' ? kubeConfig : JSON.stringify(kubeConfig);
  const names = { namespace: 'fleet-default', secretName: 'plan' };
  return JSON.stringify({ kubeConfig: text, ...names, ...more });
}

function read(text: string) {
  const info = judgeConnectionInfo(text);
  if ('found' in info) throw new Error(info.found);
  return info;
}

function refusal(text: string): string {
  const info = judgeConnectionInfo(text);
  if (!('found' in info)) throw new Error('it is accepted');
  expect(info.found).toMatch(/^found /);
  expect(info.found).not.toContain('canary');
  return info.found;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describe('the connection info', () => {
  it('names the server, the Secret, what is shown and what is trusted', () => {
    const cluster = {
      'certificate-authority-data': base64(authority.cert),
      'tls-server-name': 'rancher.local',
    };
    const pair = {
      'client-certificate-data': base64(client.cert),
      'client-key-data': base64(client.key),
    };
    expect(read(infoText(kubeconfig(cluster, pair)))).toEqual({
      access: {
        server: new URL('https://rancher:8443/k8s/clusters/local'),
        tlsServerName: 'rancher.local',
        ca: authority.cert,
        token: CANARY,
        clientCertificate: client,
      },
      namespace: 'fleet-default',
      secretName: 'plan',
      warnings: [],
    });
  });

  it('is read as Go reads it: keys in any case, the last one wins, others are ignored', () => {
    const text = JSON.stringify(JSON.stringify(kubeconfig()));
    const info = read(
      `\ufeff{"KUBECONFIG":${text},"Namespace":"a","namespace":"b","secretname":"plan","other":[]}`,
    );
    expect([info.namespace, info.secretName]).toEqual(['b', 'plan']);
  });

  it('has a kubeconfig in YAML', () => {
    const { access } = read(
      infoText(`
apiVersion: v1
kind: Config
current-context: agent
clusters: [{ name: agent, cluster: { server: "https://rancher" } }]
contexts:
- { name: &agent agent, context: { cluster: *agent, user: *agent, namespace: other } }
users:
- name: agent
  user: { token: ${CANARY} }
`),
    );
    expect(access).toEqual({ server: new URL('https://rancher'), token: CANARY });
  });

  it.each([
    ['no JSON', `{"kubeConfig": ${CANARY}`, /found no JSON/],
    ['an array', '[]', /found no text for kubeConfig/],
    ['null', 'null', /found no text for kubeConfig/],
    ['an empty kubeconfig', infoText(''), /found no text for kubeConfig/],
    ['a namespace that is a number', infoText('x', { namespace: 1 }), /for namespace/],
    ['no Secret', infoText('x', { secretName: undefined }), /for secretName/],
    ['a name that leads elsewhere', infoText('x', { namespace: 'canary/../b' }), /for namespace/],
    ['a word for allowHttp', infoText(kubeconfig(), { allowHttp: 'true' }), /for allowHttp/],
    ['more than a mebibyte', infoText('x'.repeat(1_048_576)), /found more than 1048576 bytes/],
  ])('is refused with %s', (_title, text, message) => {
    expect(refusal(text)).toMatch(message);
  });
});

describe('a kubeconfig', () => {
  it.each<[string, Json, Json]>([
    ['certificate-authority', { 'certificate-authority': '/etc/shadow' }, {}],
    ['proxy-url', { 'proxy-url': 'http://192.0.2.1' }, {}],
    ['exec', {}, { exec: { apiVersion: 'v1', command: '/bin/sh', args: ['-c', CANARY] } }],
    ['auth-provider', {}, { 'auth-provider': { name: 'gcp', config: { 'cmd-path': CANARY } } }],
    ['tokenFile', {}, { tokenFile: '/etc/shadow' }],
    ['client-certificate', {}, { 'client-certificate': '/etc/shadow' }],
    ['client-key', {}, { 'client-key': '/etc/shadow' }],
    ['username', {}, { username: 'admin', password: CANARY }],
    ['as', {}, { as: 'system:admin' }],
  ])('is refused with %s', (key, cluster, user) => {
    expect(refusal(infoText(kubeconfig(cluster, user)))).toContain(
      `found the unsupported key "${key}"`,
    );
  });

  it.each<[string, Json, Json, RegExp]>([
    ['verification off', { 'insecure-skip-tls-verify': true }, {}, /insecure-skip-tls-verify/],
    ['an address without a scheme', { server: 'rancher:8443' }, {}, /found no https:/],
    ['an address of another kind', { server: 'file:///etc/shadow' }, {}, /found no https:/],
    ['a plain address of another machine', { server: 'http://rancher' }, {}, /in clear text/],
    ['a user in the address', { server: `https://a:${CANARY}@rancher` }, {}, /with a user/],
    ['a query in the address', { server: 'https://rancher?a=b' }, {}, /a query/],
    ['a fragment in the address', { server: 'https://rancher/#canary' }, {}, /a fragment/],
    ['no address', { server: undefined }, {}, /found no string in "cluster.server"/],
    ['a CA that is no PEM', { 'certificate-authority-data': base64(CANARY) }, {}, /no certificate/],
    ['a CA that is broken', { 'certificate-authority-data': base64(BROKEN) }, {}, /no certificate/],
    ['a key in place of a CA', { 'certificate-authority-data': base64(client.key) }, {}, /no cert/],
    ['a key without its certificate', {}, { 'client-key-data': base64(client.key) }, /without the/],
    [
      'a key of another certificate',
      {},
      {
        'client-certificate-data': base64(other.cert),
        'client-key-data': base64(client.key),
      },
      /do not belong together/,
    ],
    ['an empty token', {}, { token: '' }, /neither a token nor a client certificate/],
    ['no token', {}, { token: undefined }, /neither a token nor a client certificate/],
    ['a token that would end the header', {}, { token: `${CANARY}\r\nx: y` }, /"user.token"/],
    ['a token of another type', {}, { token: [CANARY] }, /found no string/],
    ['a name that is long', {}, { [`canary${'x'.repeat(90)}`]: 1 }, /found an unsupported key/],
  ])('is refused with %s', (_title, cluster, user, message) => {
    expect(refusal(infoText(kubeconfig(cluster, user)))).toMatch(message);
  });

  it.each<[string, string, RegExp]>([
    ['no YAML', `a: b\n[${CANARY}`, /no YAML in the kubeconfig \(line [23]\)/],
    ['nothing', ' ', /no object/],
    [
      'a context that is not there',
      JSON.stringify({ ...kubeconfig(), 'current-context': 'x' }),
      /"contexts"/,
    ],
    [
      'a cluster that is not there',
      JSON.stringify({ ...kubeconfig(), clusters: [] }),
      /"clusters"/,
    ],
    ['a user that is not there', JSON.stringify({ ...kubeconfig(), users: [] }), /"users"/],
    ['nesting without an end', '['.repeat(200_000), /nested too deeply|no YAML/],
    ['faults without an end', `{}${'['.repeat(200_000)}`, /has too many parts/],
    ['aliases that multiply', `a: &a [${CANARY}]\n${bomb()}`, /too many aliases/],
  ])('is refused with %s', (_title, text, message) => {
    expect(refusal(infoText(text))).toMatch(message);
  });

  it('may name a plain server on this machine', () => {
    const { access, warnings } = read(infoText(kubeconfig({ server: 'http://127.0.0.1:8080' })));
    expect([access.server.href, warnings]).toEqual(['http://127.0.0.1:8080/', []]);
  });

  it('has its authorities without the blocks that cannot be read, and says which', () => {
    const text = `${BROKEN}${authority.cert}${other.key}${other.cert}`;
    const cluster = { 'certificate-authority-data': base64(text) };
    const { access, warnings } = read(infoText(kubeconfig(cluster)));
    expect(access.ca).toBe(authority.cert + other.cert);
    const location = '"cluster.certificate-authority-data" of the kubeconfig';
    expect(warnings).toEqual([
      `ignoring block 1 of ${location}: found a certificate that cannot be read`,
      expect.stringContaining(`ignoring block 3 of ${location}: found a private key`),
    ]);
  });
});

describe('what a node keeps of an answer', () => {
  const PLAIN = infoText(kubeconfig({ server: 'http://rancher.example' }), { allowHttp: true });

  it('has its keys in order, two spaces, and what Go escapes', () => {
    const kubeConfig = JSON.stringify(kubeconfig({}, { token: 'a<b>&c' }));
    const answer = { more: 1, secretName: 'plan', Namespace: 'fleet-default', kubeConfig };
    expect(keepConnectionInfo(JSON.stringify(answer), false)).toMatchObject({
      text: [
        '{',
        `  "kubeConfig": ${JSON.stringify(kubeConfig).replace('a<b>&c', 'a\\u003cb\\u003e\\u0026c')},`,
        '  "namespace": "fleet-default",',
        '  "secretName": "plan"',
        '}',
        '',
      ].join('\n'),
      info: { access: { token: 'a<b>&c' } },
    });
  });

  it('allows a server without TLS where the operator does, and whoever reads it then does too', () => {
    const kept = keepConnectionInfo(PLAIN, true);
    expect(kept).toMatchObject({
      info: { warnings: ['the API server has no TLS: the token is sent in clear text'] },
    });
    if ('found' in kept) throw new Error(kept.found);
    expect(JSON.parse(kept.text)).toMatchObject({ allowHttp: true });
    expect(judgeConnectionInfo(kept.text)).toEqual(kept.info);
  });

  it('does not allow http because the answer does', () => {
    expect(keepConnectionInfo(PLAIN, false)).toEqual({
      found: expect.stringContaining('in clear text') as unknown,
    });
  });

  it('is refused where its text would be too large to be read again', () => {
    const padded = `${JSON.stringify(kubeconfig())}${'\n# <<<'.repeat(60_000)}`;
    expect(judgeConnectionInfo(infoText(padded))).toHaveProperty('access');
    expect(keepConnectionInfo(infoText(padded), false)).toEqual({
      found: 'found more than 1048576 bytes',
    });
  });

  it('is used exactly as it was judged, because one text has one verdict', () => {
    const blocks = [authority.cert, other.cert, BROKEN, client.key, 'junk\n', BROKEN.slice(0, 40)];
    const data = (texts: readonly string[]) =>
      fc
        .array(fc.constantFrom(...texts), { maxLength: 4 })
        .map((parts) => ({ 'certificate-authority-data': base64(parts.join('')) }));
    const servers = [
      'https://a',
      'http://a',
      'http://[::1]',
      'https://a/?x=1',
      'https://a/#f',
      'a',
    ];
    const cluster = fc
      .tuple(
        fc.record({ server: fc.constantFrom(...servers) }),
        fc.oneof(data(blocks), fc.constant({})),
        fc.oneof(
          { weight: 5, arbitrary: fc.constant({}) },
          fc.dictionary(fc.string(), fc.string(), { maxKeys: 1 }),
        ),
      )
      .map((parts): Json => Object.assign({}, ...parts) as Json);
    const user = fc.record({
      token: fc.constantFrom('', 'abc', 'a b', undefined),
      'client-certificate-data': fc.constantFrom(undefined, '', base64(client.cert)),
      'client-key-data': fc.constantFrom(undefined, base64(client.key), base64(other.key)),
    });
    const answer = fc.oneof(
      {
        weight: 9,
        arbitrary: fc.tuple(cluster, user).map((each) => infoText(kubeconfig(...each))),
      },
      fc.json(),
      fc.string(),
    );
    const good = infoText(kubeconfig({ server: 'https://a' }, { token: 'abc' }));
    expect(keepConnectionInfo(good, false)).not.toHaveProperty('found');
    fc.assert(
      fc.property(answer, fc.boolean(), (text, allowHttp) => {
        const kept = keepConnectionInfo(text, allowHttp);
        // Rancher's installer stores the answer unchanged, and wins reformats it. Both texts must get the same verdict.
        if (!allowHttp) expect('found' in judgeConnectionInfo(text)).toBe('found' in kept);
        if (!('found' in kept)) expect(judgeConnectionInfo(kept.text)).toEqual(kept.info);
      }),
      { numRuns: 100, examples: [[good, false]] },
    );
  });
});

/** Nine levels of nine aliases each: 387 million values. */
function bomb(): string {
  const levels = Array.from({ length: 9 }, (_each, level) => `b${level}: &b${level} [`);
  return levels
    .map((start, level) => `${start}${`*${level === 0 ? 'a' : `b${level - 1}`},`.repeat(9)}]`)
    .join('\n');
}
