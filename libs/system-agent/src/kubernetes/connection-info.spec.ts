import { chmod, chown, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixFileTrust } from '@wins/trusted-files';
import { createCertificateAuthority } from '@wins/wins-program/testing';
import { readConnectionInfo } from './connection-info.js';

const CANARY = 'canary-of-a-token';
const authority = createCertificateAuthority('authority');
const client = authority.issue('client');

let folder: string;
let file: string;

beforeEach(async () => {
  // The folder of the system is writable for everybody, and sticky, which is not good enough for the folder of the file itself.
  folder = await mkdtemp(path.join(tmpdir(), 'connection-'));
  file = path.join(folder, 'connection.json');
});
afterEach(() => rm(folder, { recursive: true }));

type Json = Record<string, unknown>;

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

async function read(info: Json | string | Buffer) {
  const isText = typeof info === 'string' || Buffer.isBuffer(info);
  await writeFile(file, isText ? info : JSON.stringify(info), { mode: 0o600 });
  return readConnectionInfo(file, posixFileTrust());
}

function readKubeconfig(kubeConfig: Json | string) {
  const text = typeof kubeConfig === 'string' ? kubeConfig : JSON.stringify(kubeConfig);
  return read({ kubeConfig: text, namespace: 'fleet-default', secretName: 'plan' });
}

async function refusal(reading: Promise<unknown>): Promise<string> {
  const error: unknown = await reading.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'AgentError', code: 'invalidConnection' });
  const { message } = error as Error;
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error)) + message).not.toContain(
    'canary',
  );
  return message;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describe('the connection info', () => {
  it('names the server, the Secret, and what is shown and trusted', async () => {
    const info = await readKubeconfig(
      kubeconfig(
        {
          'certificate-authority-data': base64(authority.cert),
          'tls-server-name': 'rancher.local',
        },
        {
          'client-certificate-data': base64(client.cert),
          'client-key-data': base64(client.key),
        },
      ),
    );
    expect(info).toEqual({
      access: {
        server: new URL('https://rancher:8443/k8s/clusters/local'),
        tlsServerName: 'rancher.local',
        ca: authority.cert,
        token: CANARY,
        clientCertificate: client,
      },
      namespace: 'fleet-default',
      secretName: 'plan',
    });
  });

  it('is read as Go reads it: keys in any case, the last one wins, others are ignored', async () => {
    const text = JSON.stringify(JSON.stringify(kubeconfig()));
    const info = await read(
      `{"KUBECONFIG":${text},"Namespace":"a","namespace":"b","secretname":"plan","other":[]}`,
    );
    expect([info.namespace, info.secretName]).toEqual(['b', 'plan']);
  });

  it('has a kubeconfig in YAML', async () => {
    const { access } = await readKubeconfig(`
apiVersion: v1
kind: Config
current-context: agent
clusters: [{ name: agent, cluster: { server: "https://rancher" } }]
contexts:
- { name: agent, context: { cluster: agent, user: agent, namespace: other } }
users:
- name: agent
  user: { token: ${CANARY} }
`);
    expect(access).toEqual({ server: new URL('https://rancher'), token: CANARY });
  });

  it.each([
    ['no JSON', `{"kubeConfig": ${CANARY}`, /found no JSON/],
    ['an array', '[]', /found no text for namespace/],
    ['null', 'null', /found no text for namespace/],
    ['a namespace that is a number', '{"namespace":1}', /found no text for namespace/],
    ['no Secret', '{"namespace":"a"}', /found no text for secretName/],
    ['no kubeconfig', '{"namespace":"a","secretName":"b"}', /found no text for kubeConfig/],
    [
      'a name that leads elsewhere',
      '{"namespace":"a/../b","secretName":"b"}',
      /found "a\/\.\.\/b"; wanted the name of a Kubernetes object/,
    ],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0]), /wanted UTF-8/],
    ['more than a mebibyte', ' '.repeat(1_048_577), /it has more than 1048576 bytes/],
  ])('is refused with %s', async (_title, text, message) => {
    expect(await refusal(read(text))).toMatch(message);
  });

  it('is refused when the file is missing', async () => {
    const reading = readConnectionInfo(file, posixFileTrust());
    expect(await refusal(reading)).toMatch(
      /^cannot use the connection info ".*": there is no such file or folder$/,
    );
  });

  it('is refused where another user owns it', async () => {
    await readKubeconfig(kubeconfig());
    const uid = process.geteuid?.() ?? 0;
    // What root owns is trusted by everybody, and who is not root cannot give a file away.
    if (uid === 0) await chown(file, 12_345, 12_345);
    const trust = posixFileTrust(uid === 0 ? 0 : uid + 1);
    expect(await refusal(readConnectionInfo(file, trust))).toMatch(/belongs to/);
  });

  it('is refused where others could have written it', async () => {
    await readKubeconfig(kubeconfig());
    await chmod(file, 0o666);
    expect(await refusal(readConnectionInfo(file, posixFileTrust()))).toMatch(/writ/);
    await chmod(file, 0o600);
    const link = path.join(folder, 'link.json');
    await symlink(file, link);
    expect(await refusal(readConnectionInfo(link, posixFileTrust()))).toMatch(/symbolic link/);
  });
});

describe('a kubeconfig', () => {
  it.each<[string, Json, Json]>([
    ['certificate-authority', { 'certificate-authority': '/etc/shadow' }, {}],
    ['insecure-skip-tls-verify', { 'insecure-skip-tls-verify': true }, {}],
    ['proxy-url', { 'proxy-url': 'http://192.0.2.1' }, {}],
    ['exec', {}, { exec: { apiVersion: 'v1', command: '/bin/sh', args: ['-c', CANARY] } }],
    ['auth-provider', {}, { 'auth-provider': { name: 'gcp', config: { 'cmd-path': CANARY } } }],
    ['tokenFile', {}, { tokenFile: '/etc/shadow' }],
    ['client-certificate', {}, { 'client-certificate': '/etc/shadow' }],
    ['client-key', {}, { 'client-key': '/etc/shadow' }],
    ['username', {}, { username: 'admin', password: CANARY }],
    ['as', {}, { as: 'system:admin' }],
  ])('is refused with %s', async (key, cluster, user) => {
    const message = await refusal(readKubeconfig(kubeconfig(cluster, user)));
    expect(message).toContain(`${key}"`);
  });

  it.each<[string, Json, Json, RegExp]>([
    ['an address without a scheme', { server: 'rancher:8443' }, {}, /found no https:/],
    ['an address of another kind', { server: 'file:///etc/shadow' }, {}, /found no https:/],
    ['a plain address of another machine', { server: 'http://rancher' }, {}, /in the clear/],
    ['a user in the address', { server: `https://a:${CANARY}@rancher` }, {}, /found a user/],
    ['a query in the address', { server: 'https://rancher?a=b' }, {}, /a query/],
    ['no address', { server: undefined }, {}, /"clusters.agent.cluster.server" .* wanted string/],
    ['a CA that is no PEM', { 'certificate-authority-data': base64(CANARY) }, {}, /base64 of PEM/],
    [
      'a CA that is broken',
      {
        'certificate-authority-data': base64(
          `${authority.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
        ),
      },
      {},
      /PEM that cannot be read/,
    ],
    ['a key without its certificate', {}, { 'client-key-data': base64(client.key) }, /wanted both/],
    [
      'a token that would end the header',
      {},
      { token: `${CANARY}\r\nx: y` },
      /users.agent.user.token/,
    ],
    ['a token of another type', {}, { token: [CANARY] }, /wanted string/],
  ])('is refused with %s', async (_title, cluster, user, message) => {
    expect(await refusal(readKubeconfig(kubeconfig(cluster, user)))).toMatch(message);
  });

  it.each<[string, string]>([
    ['no YAML', `[${CANARY}`],
    ['nothing', ' '],
    ['a context that is not there', JSON.stringify({ ...kubeconfig(), 'current-context': 'x' })],
    ['a cluster that is not there', JSON.stringify({ ...kubeconfig(), clusters: [] })],
    ['a user that is not there', JSON.stringify({ ...kubeconfig(), users: [] })],
    ['nesting without an end', '['.repeat(10_000)],
    ['aliases that multiply', `a: &a [${CANARY}]\n${bomb()}`],
  ])('is refused with %s', async (_title, text) => {
    expect(await refusal(readKubeconfig(text))).toMatch(/the kubeconfig: found/);
  });

  it('may name a plain server on this machine', async () => {
    const { access } = await readKubeconfig(kubeconfig({ server: 'http://127.0.0.1:8080' }));
    expect(access.server.href).toBe('http://127.0.0.1:8080/');
  });
});

/** Nine levels of nine aliases each: 387 million values. */
function bomb(): string {
  const levels = Array.from({ length: 9 }, (_each, level) => `b${level}: &b${level} [`);
  return levels
    .map((start, level) => `${start}${`*${level === 0 ? 'a' : `b${level - 1}`},`.repeat(9)}]`)
    .join('\n');
}
