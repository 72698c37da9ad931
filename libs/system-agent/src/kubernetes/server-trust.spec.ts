import { LeapingClock, startProxy } from '@wins/net/testing';
import { createCertificateAuthority } from '@wins/base/testing';
import type { ApiServer } from '../testing/index.js';
import { closeStores, codeOf, never, serve, stops, storeOf } from '../testing/store-harness.js';
import { parseConnectionInfo } from './connecting-store.js';
import { secretStore } from './secret-store.js';

afterEach(closeStores);

describe('who is trusted', () => {
  const other = createCertificateAuthority('other');

  it.each([
    ['strict, and the CA of the server', true, undefined, undefined],
    ['strict, and the CA of another authority', true, other.cert, 'unreachable'],
    ['the CA of the server', false, undefined, undefined],
    [
      'the CA of another authority, and the system does not know it',
      false,
      other.cert,
      'unreachable',
    ],
    ['no CA, and the system does not know it', false, null, 'unreachable'],
  ])('%s', async (_title, strictTls, ca, code) => {
    const server = await serve();
    const kubeconfig = ca === undefined ? {} : { ca };
    const store = storeOf(server, { strictTls, systemRoots: () => [other.cert] }, kubeconfig);
    const outcome = await store.read({ signal: never }).catch((error: unknown) => codeOf(error));
    expect(outcome).toBe(code);
    if (code !== undefined) expect(server.requests).toEqual([]);
  });

  it('needs a CA when it is strict', async () => {
    const server = await serve();
    const make = () => storeOf(server, { strictTls: true }, { ca: null });
    expect(errorOf(make)).toMatchObject({
      code: 'invalidConnection',
      message: expect.stringContaining('agentStrictTLSMode') as string,
    });
  });

  it('tries the authorities of the system when it is not strict, and says so once', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    const warnings: string[] = [];
    const store = storeOf(
      server,
      {
        strictTls: false,
        systemRoots: () => [server.ca],
        onWarning: (message) => warnings.push(message),
      },
      { ca: other.cert },
    );
    await store.read({ signal: never });
    await store.read({ signal: never });
    expect(warnings).toEqual([expect.stringContaining('agentStrictTLSMode is off')]);
    expect(server.requests).toHaveLength(2);
  });

  it('finds out which authorities are good while several requests are under way', async () => {
    const server = await serve();
    const options = { strictTls: false, systemRoots: () => [server.ca] };
    const store = storeOf(server, options, { ca: other.cert });
    await Promise.all(Array.from({ length: 5 }, () => store.read({ signal: never })));
    expect(server.requests).toHaveLength(5);
  });

  it('does not fall back once a certificate of the kubeconfig was good', async () => {
    const server = await serve();
    const store = storeOf(server, { strictTls: false, systemRoots: () => [other.cert] });
    await store.read({ signal: never });
    const port = Number(new URL(server.url).port);
    await server.close();
    const impostor = await serve({ port, authority: other });
    await expect(store.read({ signal: never })).rejects.toMatchObject({ code: 'unreachable' });
    expect(impostor.requests).toEqual([]);
  });

  it('trusts an authority of the kubeconfig that another one has signed', async () => {
    const server = await serve({ authority: createCertificateAuthority('below', other) });
    expect(await storeOf(server).read({ signal: never })).toBeUndefined();
  });

  it('does not fall back when the certificate is for another name', async () => {
    const server = await serve();
    const info = parseConnectionInfo(server.connectionInfo(), '/connection.json');
    const access = { ...info.access, tlsServerName: 'other.example' };
    const warnings: string[] = [];
    const store = secretStore(
      { ...info, access },
      {
        clock: new LeapingClock(),
        strictTls: false,
        systemRoots: () => [server.ca],
        onWarning: (message) => warnings.push(message),
      },
    );
    await expect(store.read({ signal: never })).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('is for another host') as string,
    });
    expect([server.requests, warnings]).toEqual([[], []]);
  });

  it('reaches a plain server on this machine', async () => {
    const server = await serve({ plain: true });
    server.create({ plan: '{}' });
    const store = storeOf(server, { strictTls: false });
    expect((await store.read({ signal: never }))?.data['plan']?.toString()).toBe('{}');
  });

  it('says that nothing listens', async () => {
    const server = await serve();
    const store = storeOf(server);
    await server.close();
    await expect(store.read({ signal: never })).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/cannot read the Secret: .* \(ECONNREFUSED\)$/) as string,
    });
  });
});

describe('the proxy of the environment', () => {
  const access = (server: ApiServer) => {
    const info = parseConnectionInfo(server.connectionInfo(), '/connection.json');
    // A name that only the proxy can resolve.
    const url = new URL('https://rancher.invalid:6443');
    return { ...info, access: { ...info.access, server: url, tlsServerName: 'localhost' } };
  };
  const plain = { clock: new LeapingClock(), strictTls: true };

  async function behindProxy() {
    const server = await serve();
    server.create({ plan: '{}' });
    const port = Number(new URL(server.url).port);
    const user = { name: 'agent', password: 'canary' };
    const proxy = await startProxy({ user, hosts: { 'rancher.invalid:6443': port } });
    stops.push(() => proxy.close());
    const storeBy = (password: string) =>
      secretStore(access(server), {
        ...plain,
        environment: { HTTPS_PROXY: `http://agent:${password}@${proxy.host}` },
      });
    return { server, proxy, storeBy };
  }

  it('leads to the server, and sees no token', async () => {
    const { server, proxy, storeBy } = await behindProxy();
    expect((await storeBy('canary').read({ signal: never }))?.data['plan']?.toString()).toBe('{}');
    expect(proxy.requests.map(({ target }) => target)).toEqual(['rancher.invalid:6443']);
    expect(JSON.stringify(proxy.requests)).not.toContain(server.token);
  });

  it('that does not take the password is told as such', async () => {
    const { server, storeBy } = await behindProxy();
    const failure: unknown = await storeBy('other')
      .read({ signal: never })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('status 407') as string,
    });
    expect(server.requests).toEqual([]);
  });
});

function errorOf(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}
