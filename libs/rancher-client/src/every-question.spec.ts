import { createHash } from 'node:crypto';
import { createDownload } from './download/create-download.js';
import type { RancherSettings } from './http/rancher-client.js';
import { checkHealth } from './register/check-health.js';
import { registerNode } from './register/register-node.js';
import {
  byteByByte,
  cutAfter,
  drip,
  endless,
  redirectTo,
  silent,
  stallAfter,
  type RancherDouble,
  type RancherFault,
} from './testing/index.js';
import {
  CANARY,
  closeServers,
  failureOf,
  proxy,
  rancher,
  settings,
} from './testing/server-harness.js';
import { establishTrust } from './trust/establish-trust.js';

afterEach(closeServers);

const FILE = Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(2000, 7)]);
const sha256 = createHash('sha256').update(FILE).digest('hex');
const once = { timeoutMs: 0 };

interface Asked {
  readonly url: string;
  readonly checksum: string;
  readonly roots: readonly string[];
}
type Ask = (asked: Asked, own: RancherSettings) => Promise<unknown>;

const QUESTIONS: [string, Ask][] = [
  [
    '/cacerts',
    ({ url, checksum }, own) =>
      establishTrust({ server: url, caChecksum: checksum, token: CANARY, ...once }, own),
  ],
  ['/healthz', ({ url, roots }, own) => checkHealth({ server: new URL(url), roots }, once, own)],
  [
    '/v3/connect/agent',
    ({ url, roots }, own) => {
      const wanted = { node: { id: 'abc' }, token: CANARY, ...once };
      return registerNode({ server: new URL(url), roots }, wanted, own);
    },
  ],
  [
    '/assets/csi-proxy.tar.gz',
    ({ url, roots }, own) => {
      const download = createDownload({ ...own, ...once, roots });
      const wanted = { maxBytes: 100_000, sha256 };
      return download(`${url}/assets/csi-proxy.tar.gz`, wanted);
    },
  ],
];

async function start(options: Parameters<typeof rancher>[0] = {}) {
  const names = ['rancher.invalid'];
  return await rancher({ names, assets: { 'csi-proxy.tar.gz': FILE }, ...options });
}

const cutInBody: RancherFault = (_request, response) => {
  response.writeHead(200, { 'content-length': 100 });
  response.write('ok', () => response.socket?.destroy());
};

function knownAs({ url, checksum, ca }: RancherDouble): Asked {
  return { url, checksum, roots: [ca] };
}

describe.each(QUESTIONS)('what is asked at %s', (path, ask) => {
  it('goes through a proxy that wants a user and a password, and is not seen by it', async () => {
    const server = await start();
    const user = { name: 'node', password: 'canary of the proxy' };
    const between = await proxy({ user, hosts: { 'rancher.invalid:443': server.port } });
    const address = (password: string) =>
      `http://node:${encodeURIComponent(password)}@${between.host}`;
    const asked = { ...knownAs(server), url: 'https://rancher.invalid' };
    const own = (password: string) => settings({ environment: { HTTPS_PROXY: address(password) } });
    await ask(asked, own(user.password));
    expect(server.requests.length).toBeGreaterThan(0);
    const seen = `${between.tunnelled().toString('latin1')}${JSON.stringify(between.requests)}`;
    for (const hidden of [CANARY, path]) expect(seen).not.toContain(hidden);

    const failure = await failureOf(ask(asked, own('another')));
    expect(failure).toMatchObject({ code: 'proxyFailed', status: 407 });
  });

  it('is answered by a server with a chain of authorities, in packets of any size', async () => {
    const server = await start({ certificate: 'chain' });
    server.script(path, [byteByByte], { forEver: true });
    await ask(knownAs(server), settings());
    expect(server.requests.at(-1)?.path).toBe(path);
  });

  it.each([
    ['expired', 'certificateExpired'],
    ['notYetValid', 'certificateExpired'],
    ['otherHost', 'otherHost'],
    ['otherAuthority', 'unknownAuthority'],
  ] as const)(
    'is not accepted from a server whose certificate is %s',
    async (certificate, code) => {
      const server = await start({ certificate });
      expect(await failureOf(ask(knownAs(server), settings()))).toMatchObject({ code });
      expect(JSON.stringify(server.requests)).not.toContain(CANARY);
    },
  );

  it('is not accepted from a server with another authority than before', async () => {
    const server = await start();
    const before = knownAs(server);
    server.rotate();
    const code = path === '/cacerts' ? 'checksumMismatch' : 'unknownAuthority';
    expect(await failureOf(ask(before, settings()))).toMatchObject({ code });
    expect(JSON.stringify(server.requests)).not.toContain(CANARY);
    await ask(knownAs(server), settings());
  });

  const limits = { answerMs: 100, idleMs: 100, totalMs: 200 };
  const faults: [string, RancherFault, string][] = [
    ['is reset before its head', cutAfter(0), 'interrupted'],
    ['is reset in its head', cutAfter(30), 'interrupted'],
    ['is reset in its body', cutInBody, 'interrupted'],
    ['is truncated, and stalls', stallAfter(FILE.subarray(0, 2)), 'timedOut'],
    ['never begins', silent, 'timedOut'],
    ['drips', drip(20), 'timedOut'],
    ['is endless', endless(), 'tooLarge'],
    ['leads to http', redirectTo('http://127.0.0.1:1/'), 'redirectRefused'],
    ['leads to itself', redirectTo(path), 'redirectRefused'],
  ];
  it.each(faults)('has no answer that %s', async (_title, fault, code) => {
    const server = await start();
    server.script(path, [fault], { forEver: true });
    // Registration has a longer time-out than other requests, so limit the total time.
    const own = settings(code === 'timedOut' ? { limits } : {});
    const failure = await failureOf(ask(knownAs(server), own));
    expect(failure).toMatchObject({ code });
  });
});
