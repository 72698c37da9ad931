import { LeapingClock } from '@wins/net/testing';
import type { AgentErrorCode } from '../agent-error.js';
import type { Secret } from '../ports.js';
import { answer, type ApiServer } from '../testing/index.js';
import { closeStores, never, serve, storeOf, watching } from '../testing/store-harness.js';
import { parseConnectionInfo } from './connecting-store.js';
import { secretStore } from './secret-store.js';

afterEach(closeStores);

describe('reading', () => {
  it('gives the Secret, decoded, and the whole object', async () => {
    const server = await serve();
    server.create({ plan: '{}', bytes: Buffer.from([0, 255]), empty: '' });
    const secret = await storeOf(server).read({ signal: never });
    expect(secret).toEqual({
      uid: server.read()?.metadata.uid,
      resourceVersion: server.read()?.metadata.resourceVersion,
      data: { plan: Buffer.from('{}'), bytes: Buffer.from([0, 255]), empty: Buffer.alloc(0) },
      object: server.read(),
    });
  });

  it('gives undefined when there is no Secret', async () => {
    const server = await serve();
    expect(await storeOf(server).read({ signal: never })).toBeUndefined();
  });

  it('says who it is, and shows its token', async () => {
    const server = await serve();
    await storeOf(server).read({ signal: never });
    expect(server.requests[0]?.headers).toMatchObject({
      accept: 'application/json',
      authorization: `Bearer ${server.token}`,
      'user-agent': expect.stringMatching(/^wins\/\S+ \(\w+\/\w+\)$/) as string,
    });
  });

  it('shows its certificate where the kubeconfig has one', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server, {}, { client: server.clientCertificate });
    expect((await store.read({ signal: never }))?.data['plan']?.toString()).toBe('{}');
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('knows when the server last sent something', async () => {
    const clock = new LeapingClock();
    const server = await serve();
    const store = storeOf(server, { clock });
    expect(store.lastContactMs).toBeUndefined();
    clock.advance(5000);
    await store.read({ signal: never });
    expect(store.lastContactMs).toBe(clock.monotonicMs());
  });
});

describe('writing', () => {
  it('replaces the values that change, and leaves everything else as it was', async () => {
    const server = await serve();
    server.create({ plan: '{}', other: 'kept' });
    server.update();
    const store = storeOf(server);
    const secret = (await store.read({ signal: never })) as Secret;
    const written = await store.write(
      secret,
      { 'applied-checksum': Buffer.from('ab') },
      { signal: never },
    );
    expect(written.data).toEqual({
      plan: Buffer.from('{}'),
      other: Buffer.from('kept'),
      'applied-checksum': Buffer.from('ab'),
    });
    expect(server.read()).toEqual(written.object);
    expect(server.read()?.metadata['labels']).toEqual(
      (secret.object['metadata'] as { labels: unknown }).labels,
    );
    expect(server.events.at(-1)?.manager).toBe('wins');
  });

  it('is refused when another client wrote meanwhile', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server);
    const secret = (await store.read({ signal: never })) as Secret;
    server.update({ plan: 'new' });
    await expect(store.write(secret, {}, { signal: never })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        /^cannot write the Secret: the API server answered 409: .*has been modified/,
      ) as string,
    });
    expect(server.data()['plan']?.toString()).toBe('new');
  });

  it.each([
    ['notFound', 'the Secret is gone', (server: ApiServer) => server.remove()],
    [
      'conflict',
      'another Secret has taken its place',
      (server: ApiServer) => {
        server.remove();
        server.create({ plan: 'other' });
      },
    ],
  ] as const)('is %s when %s', async (code, _title, change) => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server);
    const secret = (await store.read({ signal: never })) as Secret;
    change(server);
    const writing = store.write(secret, { x: Buffer.from('y') }, { signal: never });
    await expect(writing).rejects.toMatchObject({ code });
  });

  it('is tooLarge above a mebibyte', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server);
    const secret = (await store.read({ signal: never })) as Secret;
    const writing = store.write(secret, { output: Buffer.alloc(1_048_576) }, { signal: never });
    await expect(writing).rejects.toMatchObject({ code: 'tooLarge' });
  });

  it('makes a new connection when the server closed the one that was kept', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server);
    const secret = (await store.read({ signal: never })) as Secret;
    server.resetConnections();
    await store.write(secret, { x: Buffer.from('y') }, { signal: never });
    expect(server.data()['x']?.toString()).toBe('y');
  });
});

describe('asking whether the Secret may be written', () => {
  it('is answered by who may, and changes nothing', async () => {
    const server = await serve();
    const before = server.create({ plan: '{}', empty: '' });
    const store = storeOf(server);
    const secret = (await store.read({ signal: never })) as Secret;
    await store.tryWriting(secret, { signal: never });
    expect(server.requests.at(-1)).toMatchObject({ method: 'PUT' });
    expect(server.read()).toEqual(before);
    server.update({ plan: 'new' });
    await store.tryWriting(secret, { signal: never });
    expect(server.data()['plan']?.toString()).toBe('new');
  });

  it('is forbidden for a role that can only look at it', async () => {
    const server = await serve();
    server.create({ plan: '{}' });
    const store = storeOf(server, {}, { token: server.readerToken });
    const secret = (await store.read({ signal: never })) as Secret;
    await expect(store.tryWriting(secret, { signal: never })).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(
        /^cannot write the Secret: the API server answered 403: .* cannot update resource/,
      ) as string,
    });
  });
});

describe('what the API server refuses', () => {
  it.each<[AgentErrorCode, number]>([
    ['unauthorized', 401],
    ['forbidden', 403],
    ['notFound', 404],
    ['refused', 500],
    ['refused', 302],
    ['expired', 410],
  ])('is reported as %s for %d, and tried again', async (code, status) => {
    const server = await serve();
    server.create({ plan: 'first' });
    // The store reports 401 and 403 at once. After another status, it first sends a list
    // request, and reports a failure only if that request fails too.
    const times = status === 401 || status === 403 ? 1 : 2;
    server.fault(answer(status, '{}', { location: server.url }), { times });
    const watch = watching(storeOf(server));
    expect(await watch.reports(1)).toEqual(['first']);
    await watch.connected();
    expect(watch.failures()).toEqual([code]);
  });

  it('is reported for an unknown token, without the token', async () => {
    const server = await serve();
    const store = storeOf(server, {}, { token: 'canary-token' });
    const error: unknown = await store.read({ signal: never }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'unauthorized' });
    const watch = watching(store);
    await watch.until(() => watch.failures().length > 0);
    for (const each of [error, ...watch.states]) {
      expect(JSON.stringify(each, Object.getOwnPropertyNames(each)) + String(each)).not.toContain(
        'canary',
      );
    }
  });

  it('is forbidden for a Secret that the role of the token does not name', async () => {
    const server = await serve();
    const info = parseConnectionInfo(server.connectionInfo(), '/connection.json');
    const options = { clock: new LeapingClock(), strictTls: true };
    const store = secretStore({ ...info, secretName: 'other' }, options);
    await expect(store.read({ signal: never })).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(
        /^cannot read the Secret: the API server answered 403: secrets "other" is forbidden: User "system:/,
      ) as string,
    });
    const watch = watching(store);
    await watch.until(() => watch.failures().length > 1);
    expect(new Set(watch.failures())).toEqual(new Set(['forbidden']));
    expect(watch.reported).toEqual([]);
  });

  it('has its foreign text escaped and cut', async () => {
    const server = await serve();
    const message = `\u001b[2J\nlevel=info ${'x'.repeat(10_000)}`;
    server.fault(answer(500, JSON.stringify({ message })));
    const error = (await storeOf(server)
      .read({ signal: never })
      .catch((reason: unknown) => reason)) as Error;
    expect(error.message).toMatch(/answered 500: \\u001b\[2J\\u000alevel=info x+…$/);
    expect(error.message.length).toBeLessThan(700);
  });
});
