import { inspect } from 'node:util';
import { LeapingClock } from '@wins/net/testing';
import { createCertificateAuthority } from '@wins/base/testing';
import {
  answer,
  connectionInfo,
  cutAfter,
  endless,
  redirectTo,
  silent,
  type RancherDouble,
  type RancherFault,
} from '../testing/index.js';
import { CANARY, closeServers, failureOf, rancher, settings } from '../testing/server-harness.js';
import { checkHealth } from './check-health.js';
import { registerNode, type NodeDescription } from './register-node.js';

afterEach(closeServers);

const PATH = '/v3/connect/agent';
const node = { id: 'a'.repeat(62) };
const trustOf = (server: RancherDouble) => ({ server: new URL(server.url), roots: [server.ca] });
const register = (
  server: RancherDouble,
  more: Partial<Parameters<typeof registerNode>[1]> = {},
  own = settings(),
) => registerNode(trustOf(server), { node, token: CANARY, ...more }, own);

describe('a node that registers', () => {
  it('says who it is, and gets what its agent reads', async () => {
    const server = await rancher();
    const registration = await register(server, {
      node: {
        ...node,
        nodeName: 'node-1',
        isWorker: true,
        labels: 'cattle.io/os=windows,a=b',
        taints: 'a=b:NoSchedule',
        address: '192.0.2.1',
        internalAddress: '10.0.0.1',
      },
    });
    expect(server.requests).toHaveLength(1);
    const { path, headers } = server.requests[0] as (typeof server.requests)[0];
    expect(path).toBe(PATH);
    expect(headers).toMatchObject({
      authorization: `Bearer ${CANARY}`,
      'x-cattle-id': node.id,
      'x-cattle-node-name': 'node-1',
      'x-cattle-role-worker': 'true',
      'x-cattle-labels': 'cattle.io/os=windows,a=b',
      'x-cattle-taints': 'a=b:NoSchedule',
      'x-cattle-address': '192.0.2.1',
      'x-cattle-internal-address': '10.0.0.1',
      'content-type': 'application/json',
    });
    expect(registration.info).toEqual({
      access: { server: new URL(server.url), ca: server.ca, token: 'agent-token' },
      namespace: 'fleet-default',
      secretName: 'custom-0123456789ab-machine-plan',
      warnings: [],
    });
    expect(JSON.parse(registration.text)).toEqual(server.connectionInfo);
  });

  it('leaves out what is empty', async () => {
    const server = await rancher();
    await register(server, { node: { ...node, labels: '', taints: ' ' } });
    const names = Object.keys(server.requests[0]?.headers ?? {});
    expect(names.filter((name) => name.startsWith('x-cattle'))).toEqual(['x-cattle-id']);
  });

  it.each<[string, NodeDescription]>([
    ['a line break in a label', { ...node, labels: 'a=b\r\nx-cattle-role-etcd: true' }],
    ['a letter beyond ASCII', { ...node, nodeName: 'nöde' }],
    ['too much', { ...node, labels: 'a'.repeat(20_000) }],
    ['an empty id', { id: '' }],
    ['an id of 64 characters', { id: 'a'.repeat(64) }],
    ['an id with a line break in it', { id: 'a\r\nb' }],
  ])('with %s is refused before anything is asked', async (_title, description) => {
    const server = await rancher();
    const failure = await failureOf(register(server, { node: description }));
    expect(failure.code).toBe('invalidRequest');
    expect(server.requests).toEqual([]);
  });

  it.each(['', 'two words', 'line\nbreak', 'tökén', 'x'.repeat(5000)])(
    'with the token %j is refused, without it in the message',
    async (token) => {
      const server = await rancher();
      const failure = await failureOf(register(server, { token }));
      expect(failure.code).toBe('invalidRequest');
      if (token !== '') expect(inspect(failure)).not.toContain(token);
      expect(server.requests).toEqual([]);
    },
  );
});

describe('the kubeconfig of an answer', () => {
  it('may have blocks that cannot be read beside its authorities, and the operator is told', async () => {
    const server = await rancher();
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    server.connectionInfo = connectionInfo({ server: server.url, ca: broken + server.ca });
    const own = settings();
    const { info, text } = await register(server, {}, own);
    expect(info.access.ca).toBe(server.ca);
    expect(own.warnings).toEqual([expect.stringMatching(/^ignoring block 1 of /)]);
    expect(JSON.parse(text)).toEqual(server.connectionInfo);
  });

  it('may name another machine without TLS where that is allowed, which is kept with it', async () => {
    const server = await rancher();
    server.connectionInfo = connectionInfo({ server: 'http://rancher.example', ca: undefined });
    expect(await failureOf(register(server))).toMatchObject({
      code: 'badShape',
      message: expect.stringContaining('--allow-http') as unknown,
    });
    const own = settings({ allowHttp: true });
    const { text } = await register(server, {}, own);
    expect(JSON.parse(text)).toMatchObject({ allowHttp: true });
    expect(own.warnings).toEqual([expect.stringContaining('in clear text')]);
  });
});

describe('an answer that is not what was asked for', () => {
  const info = connectionInfo({ server: 'https://rancher.example', ca: undefined });
  const withKubeconfig = (change: (text: string) => string) =>
    JSON.stringify({ ...info, kubeConfig: change(info.kubeConfig) });

  it.each([
    ['no JSON', '{"kubeConfig": "token: canary-in-json'],
    ['null', 'null'],
    ['a list', '[]'],
    ['no kubeConfig', JSON.stringify({ ...info, kubeConfig: undefined })],
    ['an empty kubeConfig', JSON.stringify({ ...info, kubeConfig: '' })],
    ['a number', JSON.stringify({ ...info, namespace: 7 })],
    ['a namespace that is a path', JSON.stringify({ ...info, namespace: '../other' })],
    ['a kubeconfig that is no YAML', withKubeconfig(() => '{ token: canary-in-yaml')],
    ['a kubeconfig that is text', withKubeconfig(() => 'canary')],
    ['a bomb of aliases', withKubeconfig(() => 'a: &a [x]\nb: &b [*a,*a]\nc: [*b,*b]')],
    ['no token', withKubeconfig((text) => text.replace(/ {4}token: .*\n/, '    x: y\n'))],
    ['a program', withKubeconfig((text) => `${text}    exec: {command: canary}\n`)],
    ['a file with a token', withKubeconfig((text) => `${text}    tokenFile: /canary\n`)],
    ['no server', withKubeconfig((text) => text.replace(/ {4}server: .*\n/, '    x: y\n'))],
    ['a server without TLS', withKubeconfig((text) => text.replace('https://', 'http://'))],
    [
      'a file with authorities',
      withKubeconfig((text) =>
        text.replace('    server', '    certificate-authority: /canary\n    server'),
      ),
    ],
    [
      'TLS turned off',
      withKubeconfig((text) =>
        text.replace('    server', '    insecure-skip-tls-verify: true\n    server'),
      ),
    ],
    [
      'authorities that are none',
      withKubeconfig((text) =>
        text.replace('    server', '    certificate-authority-data: Y2FuYXJ5\n    server'),
      ),
    ],
    [
      'another context',
      withKubeconfig((text) => text.replace('current-context: agent', 'current-context: x')),
    ],
    ['HTML', '<!DOCTYPE html><html>'],
  ])('but %s is refused at once, and not repeated', async (_title, body) => {
    const server = await rancher();
    server.script(PATH, [answer(200, body)]);
    const own = settings();
    const failure = await failureOf(register(server, {}, own));
    expect(failure.code).toBe('badShape');
    expect(failure.message).toMatch(/^cannot register the node: found /);
    expect(inspect(failure)).not.toContain('canary-');
    expect(server.requests).toHaveLength(1);
  });

  it('but a kubeconfig without authorities is refused where TLS is strict', async () => {
    const server = await rancher();
    server.connectionInfo = connectionInfo({ server: server.url, ca: undefined });
    expect(await failureOf(register(server, { strictTls: true }))).toMatchObject({
      code: 'strictWithoutCa',
    });
    expect((await register(server)).info.access.ca).toBeUndefined();
  });

  it.each([
    ['is endless', endless(), 'tooLarge'],
    ['sends to another host', redirectTo('https://192.0.2.1/x'), 'redirectRefused'],
    ['sends to another port', redirectTo('https://127.0.0.1:1/x'), 'redirectRefused'],
    ['sends to http', redirectTo('http://127.0.0.1/x'), 'redirectRefused'],
    ['sends on and on', redirectTo(PATH), 'redirectRefused'],
    ['is 404', answer(404, 'none'), 'badStatus'],
  ])('but %s is refused, and the token goes nowhere else', async (_title, fault, code) => {
    const server = await rancher();
    server.script(PATH, [fault], { forEver: true });
    expect(await failureOf(register(server))).toMatchObject({ code });
  });

  it('but a redirect within the server is followed with the token', async () => {
    const server = await rancher();
    server.script(PATH, [redirectTo(`${PATH}?again`)]);
    await register(server);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${CANARY}`,
      `Bearer ${CANARY}`,
    ]);
  });

  it('but a redirect that carries the token to another host is refused without repeating it', async () => {
    const server = await rancher();
    server.script(PATH, [redirectTo(`https://${CANARY}.example/?${CANARY}`)]);
    const failure = await failureOf(register(server));
    expect(failure.code).toBe('redirectRefused');
    expect(inspect(failure)).not.toContain(CANARY);
  });
});

describe('a server that is not ready', () => {
  it('says 401 three times, and is asked until it is', async () => {
    const server = await rancher();
    server.script(PATH, [answer(401), answer(401), answer(401)]);
    const clock = new LeapingClock();
    await register(server, {}, settings({ clock }));
    expect(server.requests).toHaveLength(4);
    expect(clock.waits).toEqual([1000, 2000, 4000]);
  });

  it('says when to come back, and is asked then', async () => {
    const server = await rancher();
    const busy = answer(503, 'CAPI is not ready', { 'retry-after': '5' });
    server.script(PATH, [busy, busy, answer(429, '', { 'retry-after': '600' })]);
    const clock = new LeapingClock();
    const own = settings({ clock });
    await register(server, {}, own);
    expect(clock.waits).toEqual([5000, 5000, 300_000]);
    expect(own.warnings[0]).toContain('found status 503 with "CAPI is not ready"');
  });

  it('says 500 for ever: after 15 min the last cause is told', async () => {
    const server = await rancher({ token: 'another' });
    const clock = new LeapingClock();
    const failure = await failureOf(register(server, {}, settings({ clock })));
    expect(failure).toMatchObject({ code: 'badStatus', status: 500 });
    expect(failure.message).toMatch(
      /found status 500 with "machine not found by request"; wanted 200. Check that the token is correct .*; tried \d+ times in 14m\d+s$/,
    );
    expect(clock.waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(900_000);
  });

  it('repeats the token: nobody else does', async () => {
    const server = await rancher();
    server.script(PATH, [answer(500, `no machine for ${CANARY.toUpperCase()}`)], { forEver: true });
    const own = settings();
    const failure = await failureOf(register(server, { timeoutMs: 3000 }, own));
    expect(failure.message).toContain('no machine for ***');
    expect(inspect([failure, own.warnings])).not.toMatch(new RegExp(CANARY, 'i'));
  });

  it.each([
    ['at the end of what is told', answer(500, 'x'.repeat(250) + CANARY)],
    [
      'and stops in the middle of it',
      ((_request, response) => {
        response.writeHead(500).write(CANARY.slice(0, 20));
      }) satisfies RancherFault,
    ],
  ])('repeats the token %s: not even a part of it is told', async (_title, fault) => {
    const server = await rancher();
    server.script(PATH, [fault]);
    const own = settings({ limits: { idleMs: 300 } });
    await register(server, {}, own);
    expect(own.warnings).toEqual([expect.stringContaining('found status 500')]);
    expect(own.warnings[0]).not.toContain(CANARY.slice(0, 5));
  });

  it('waits for the machine longer than others may take', async () => {
    const server = await rancher();
    const own = settings({ limits: { answerMs: 10 } });
    server.script('/healthz', [silent], { forEver: true });
    // The server answers only after a later request has timed out.
    const late: RancherFault = (_request, _response, proceed) =>
      void failureOf(checkHealth(trustOf(server), { timeoutMs: 0 }, own)).then(proceed);
    server.script(PATH, [late]);
    await register(server, {}, own);
    expect(server.requests.map(({ path }) => path)).toEqual([PATH, '/healthz']);
  });

  it('is silent: no attempt takes longer than there is time', async () => {
    const server = await rancher();
    server.script(PATH, [silent], { forEver: true });
    const failure = await failureOf(register(server, { timeoutMs: 100 }));
    expect(failure.message).toContain('it had not ended within 100 ms');
  });

  it('ends connections at any place, and is asked again', async () => {
    const server = await rancher();
    const cuts = [0, 1, 15, 16, 40, 150, 300].map(cutAfter);
    server.script(PATH, cuts);
    await register(server);
    expect(server.requests).toHaveLength(cuts.length + 1);
  });

  it('is silent: a limit ends the attempt, and the timeout all of them', async () => {
    const server = await rancher();
    server.script(PATH, [silent], { forEver: true });
    const clock = new LeapingClock();
    const own = settings({ clock, limits: { totalMs: 100 } });
    const failure = await failureOf(register(server, { timeoutMs: 4000 }, own));
    expect(failure.code).toBe('timedOut');
    expect(failure.message).toContain('it had not ended within 100 ms; tried 3 times in 3s');
  });

  it('is left alone once the signal is aborted', async () => {
    const server = await rancher();
    server.script(PATH, [silent]);
    const control = new AbortController();
    const registering = register(server, {}, settings({ signal: control.signal }));
    await server.received(PATH);
    control.abort();
    expect(await failureOf(registering)).toMatchObject({ code: 'aborted' });
  });
});

describe('a server that is not the one that is trusted', () => {
  it.each(['expired', 'otherHost', 'otherAuthority'] as const)(
    '(%s) never sees the token',
    async (certificate) => {
      const server = await rancher({ certificate });
      const failure = await failureOf(register(server));
      expect(['certificateExpired', 'otherHost', 'unknownAuthority']).toContain(failure.code);
      expect(server.requests).toEqual([]);
    },
  );

  it('since its authority was changed never sees the token', async () => {
    const server = await rancher();
    const trust = trustOf(server);
    server.rotate();
    const wanted = { node, token: CANARY };
    expect(await failureOf(registerNode(trust, wanted, settings()))).toMatchObject({
      code: 'unknownAuthority',
    });
    expect(server.requests).toEqual([]);
  });

  it('as nothing is trusted never sees the token', async () => {
    const server = await rancher();
    const { url } = server;
    const trust = { server: new URL(url), roots: [] };
    const failure = await failureOf(registerNode(trust, { node, token: CANARY }, settings()));
    expect(failure.code).toBe('unknownAuthority');
    const other = { ...trust, roots: [createCertificateAuthority('x').cert] };
    expect(await failureOf(registerNode(other, { node, token: CANARY }, settings()))).toMatchObject(
      { code: 'unknownAuthority' },
    );
    expect(server.requests).toEqual([]);
  });
});
