import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { createCertificateAuthority } from '@wins/base/testing';
import { createDownload } from './download/create-download.js';
import { checkHealth } from './register/check-health.js';
import { registerNode } from './register/register-node.js';
import {
  answer,
  byteByByte,
  connectionInfo,
  cutAfter,
  noHttp,
  redirectTo,
  upgrade,
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

const PASSWORD = 'canary-of-a-proxy-password';
const AGENT_TOKEN = 'canary-of-the-agents-token';
/** Beginning of the token, as in a printed Buffer. */
const bytes = Buffer.from('canary')
  .toString('hex')
  .replace(/..(?=.)/g, '$& ');
/** Sent instead of the token. */
const HASH = createHash('sha256').update(CANARY).digest('base64');
const BASIC = Buffer.from(`agent:${PASSWORD}`).toString('base64');
const secrets = [HASH, BASIC, CANARY, PASSWORD, AGENT_TOKEN, bytes];
const info = connectionInfo({
  server: 'https://rancher.invalid',
  ca: undefined,
  token: AGENT_TOKEN,
});

const echo = `Bearer ${CANARY} ${PASSWORD}`;
const faults: [string, RancherFault][] = [
  ['is well', (_request, _response, proceed) => proceed()],
  ['is slow', byteByByte],
  [
    'repeats what it was sent',
    ({ headers }, response) => void response.writeHead(500).end(headers.authorization),
  ],
  ['repeats the token in a refusal', answer(500, echo)],
  ['repeats it in a page', answer(200, `<html>${echo}`, { 'content-type': 'text/html' })],
  ['repeats it as a host', redirectTo(`https://${CANARY}.example/`)],
  ['repeats it as a query', redirectTo(`https://rancher.example/?${CANARY}`)],
  ['repeats it as a user', redirectTo(`https://${CANARY}@rancher.example/`)],
  ['repeats it in the name of an encoding', answer(200, 'x', { 'content-encoding': CANARY })],
  ['answers with JSON that is cut', answer(200, `{"kubeConfig":"token: ${AGENT_TOKEN}`)],
  [
    'repeats it as a key',
    answer(200, JSON.stringify({ ...info, kubeConfig: `${info.kubeConfig}    ${CANARY}: x\n` })),
  ],
  ['is cut off', cutAfter(100)],
  ['speaks no HTTP', noHttp],
  ['speaks no HTTP, and repeats it', (_request, { socket }) => void socket?.end(`${echo}\r\n\r\n`)],
  ['changes the protocol', upgrade],
  ['is another one', answer(404, echo)],
];

describe('no token and no password', () => {
  it.each(faults)(
    'is in an error, a warning or at the proxy when the server %s',
    async (_title, fault) => {
      const server = await rancher({ names: ['rancher.invalid'] });
      const between = await proxy({
        hosts: { 'rancher.invalid:443': server.port },
        user: { name: 'agent', password: PASSWORD },
      });
      const own = settings({
        environment: { HTTPS_PROXY: `http://agent:${PASSWORD}@${between.host}` },
      });
      const wanted = {
        server: 'https://rancher.invalid',
        token: CANARY,
        caChecksum: server.checksum,
      };
      const knowing = { ...own, secrets: [CANARY] };
      const trust = await establishTrust(wanted, own);
      const paths = ['/cacerts', '/healthz', '/v3/connect/agent', '/assets/x'];
      for (const path of paths) server.script(path, [fault], { forEver: true });

      const outcomes: unknown[] = [];
      const keep = (error: unknown): void => void outcomes.push(error);
      const short = { timeoutMs: 2000 };
      await establishTrust({ ...wanted, ...short }, own).catch(keep);
      await establishTrust({ server: wanted.server, token: CANARY, ...short }, own).catch(keep);
      await checkHealth(trust, short, knowing).catch(keep);
      const node = { id: 'abc' };
      await registerNode(trust, { node, token: CANARY, ...short }, own).catch(keep);
      const download = createDownload({ ...knowing, ...short, roots: trust.roots });
      await download('https://rancher.invalid/assets/x', { maxBytes: 9 }).catch(keep);

      expect(outcomes.length).toBeGreaterThan(0);
      const told = inspect([outcomes, own.warnings], { depth: 20 });
      for (const secret of secrets) expect(told.toLowerCase()).not.toContain(secret.toLowerCase());
      expect(between.tunnelled().toString('latin1')).not.toContain(CANARY);
      expect(inspect(between.requests)).not.toContain(CANARY);
      // Only the registration may carry the token.
      for (const { path, headers } of server.requests)
        if (path !== '/v3/connect/agent') expect(inspect(headers)).not.toContain(CANARY);
    },
  );

  it('is sent to a server with another certificate, whatever it offers', async () => {
    const server = await rancher();
    const real = createCertificateAuthority('real');
    const own = settings({ systemRoots: () => [real.cert] });
    const trust = { server: new URL(server.url), roots: [real.cert] };
    await registerNode(trust, { node: { id: 'abc' }, token: CANARY }, own).catch(() => undefined);
    await establishTrust(
      { server: server.url, caChecksum: '0'.repeat(64), token: CANARY },
      own,
    ).catch(() => undefined);
    expect(server.requests.length).toBeGreaterThan(0);
    expect(inspect(server.requests)).not.toContain(CANARY);
  });

  it.each([PASSWORD, 'canary:with:colons', 'canary with @ and %41', '%63anary%20coded'])(
    'is in an error when a proxy repeats what it was sent: %s',
    async (password) => {
      const between = await rancher({ plain: true });
      const url = 'http://rancher.invalid';
      between.script(
        `${url}/healthz`,
        [
          ({ headers }, response) =>
            void response.writeHead(500).end(`${headers['proxy-authorization']} ${password}`),
        ],
        { forEver: true },
      );
      const host = between.url.replace('http://', '');
      const own = settings({
        allowHttp: true,
        environment: { HTTP_PROXY: `http://agent:${password}@${host}` },
      });
      const trust = { server: new URL(url), roots: [] };
      const failure = await failureOf(checkHealth(trust, { timeoutMs: 2000 }, own));
      expect(failure.message).toContain('found status 500 with "Basic ***');
      expect(inspect([failure, own.warnings], { depth: 20 })).not.toMatch(/canary/i);
      const [shown = ''] = between.requests.flatMap(
        ({ headers }) => headers['proxy-authorization'],
      );
      expect(inspect([failure, own.warnings], { depth: 20 })).not.toContain(
        shown.replace('Basic ', ''),
      );
    },
  );
});
