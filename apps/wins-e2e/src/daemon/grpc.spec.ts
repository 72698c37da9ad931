import {
  credentials,
  loadPackageDefinition,
  status,
  type Client,
  type GrpcObject,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import {
  WinsClientError,
  createWinsClient,
  type KeepAliveHandle,
  type WinsClient,
} from '@wins/wins-api';
import { once, setMaxListeners } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { Daemon } from '../testing/daemon.js';
import { markOf } from '../testing/mark-of.js';
import { startRequest } from '../testing/digests.js';
import { ROOT, Workspace } from '../testing/workspace.js';

/** @param file - .proto file, relative to the checkout. */
function service(
  file: string,
  name: string,
  address: string,
): Client & Record<string, CallableFunction> {
  const definition = loadSync(path.join(ROOT, file), {
    keepCase: true,
    enums: String,
  });
  const constructor = name
    .split('.')
    .reduce<GrpcObject[string]>(
      (scope, part) => (scope as GrpcObject)[part] as GrpcObject[string],
      loadPackageDefinition(definition),
    );
  return new (constructor as unknown as new (
    ...args: unknown[]
  ) => Client & Record<string, CallableFunction>)(`unix:${address}`, credentials.createInsecure());
}

describe('the gRPC pipe', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  let address: string;
  let client: WinsClient;
  const sleeper = workspace.script('sleeper', 'echo up; exec sleep 1000');
  const quick = workspace.script('quick', 'echo quick; exit 4');

  beforeAll(async () => {
    daemon = await Daemon.start(
      workspace,
      workspace.config([sleeper, quick], { reflection: true }),
    );
    address = String((await daemon.logged(({ msg }) => msg === 'ready'))['address']);
    client = createWinsClient({ address, clientName: 'e2e' });
  });
  afterAll(async () => {
    await client.close();
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const failure = async (promise: Promise<unknown>): Promise<WinsClientError> =>
    promise.then(
      () => Promise.reject(new Error('it did not fail')),
      (error: unknown) => error as WinsClientError,
    );
  async function readAll(name: { value: string; runId: string }, by = client): Promise<string> {
    let text = '';
    for await (const { options } of by.waitProcess(name)) {
      if (options?.$case === 'stdOut') text += options.value.toString();
      if (options?.$case === 'exit')
        text += `exit ${options.value.signal ?? options.value.exitCode}`;
    }
    return text;
  }

  it('says that it is healthy', async () => {
    const health = service('libs/wins-api/proto/health.proto', 'grpc.health.v1.Health', address);
    const answer = await new Promise<unknown>((resolve, reject) => {
      const done = (error: Error | null, found: unknown): void => {
        if (error === null) resolve(found);
        else reject(error);
      };
      health['check']?.({ service: 'wins.ProcessService' }, done);
    });
    expect(answer).toEqual({ status: 'SERVING' });
    health.close();
  });

  it('tells generic clients which services it has, where the config wants it', async () => {
    const reflection = service(
      'node_modules/@grpc/reflection/build/proto/grpc/reflection/v1/reflection.proto',
      'grpc.reflection.v1.ServerReflection',
      address,
    );
    const call = reflection['ServerReflectionInfo']?.() as NodeJS.ReadWriteStream;
    call.write({ list_services: '' } as unknown as string);
    const [answer] = (await once(call, 'data')) as [unknown];
    call.end();
    expect(JSON.stringify(answer)).toContain('wins.ProcessService');
    call.resume();
    await once(call, 'end');
    reflection.close();
  });

  it('answers UNIMPLEMENTED to a call that it does not serve', async () => {
    const session = connectHttp2('http://localhost', { createConnection: () => connect(address) });
    const stream = session.request({
      ':method': 'POST',
      ':path': '/wins.VolumeService/Mount',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.end(Buffer.alloc(5));
    const [headers] = (await once(stream, 'response')) as [Record<string, string>];
    expect(headers['grpc-status']).toBe(String(status.UNIMPLEMENTED));
    session.destroy();
  });

  it('lets several listeners follow one process', async () => {
    const name = await client.startProcess(startRequest(sleeper));
    const lease = client.keepAlive(name);
    const texts = [readAll(name), readAll(name), readAll(name)];
    // Wait for output first: a run that is stopped earlier has none.
    for await (const { options } of client.waitProcess(name))
      if (options?.$case === 'stdOut') break;
    await client.runs.stop(name);
    for (const text of await Promise.all(texts)) expect(text).toBe('up\nexit SIGTERM');
    await lease.end();
  });

  it('keeps the output of a process for a listener that comes after its end', async () => {
    const name = await client.startProcess(startRequest(quick));
    const lease = client.keepAlive(name);
    const mark = markOf(name.runId);
    await daemon.logged((record) => record['mark'] === mark && record['type'] === 'ended');
    expect(await readAll(name)).toBe('quick\nexit 4');
    await lease.end();
  });

  describe('with a process of another connection (a guessed name)', () => {
    let stranger: WinsClient;
    let name: { value: string; runId: string };
    let lease: KeepAliveHandle;
    beforeEach(async () => {
      stranger = createWinsClient({ address });
      name = await client.startProcess(startRequest(sleeper));
      lease = client.keepAlive(name);
    });
    afterEach(async () => {
      await lease.end();
      await stranger.close();
    });

    it('does not show its output', async () => {
      const error = await failure(readAll({ ...name, runId: '' }, stranger));
      expect(error).toMatchObject({ code: 'refused', reason: 'notOwner' });
    });

    it('does not tell the id of its run, which would show its output', async () => {
      const [listed] = await stranger.runs.list();
      expect(listed).toMatchObject({ name: name.value, runId: undefined });
      const [own] = await client.runs.list();
      expect(own).toMatchObject({ name: name.value, runId: name.runId });
    });

    it('does not accept a lease of it, whose end would kill it', async () => {
      const handle = stranger.keepAlive({ ...name, runId: '' });
      expect(await failure(handle.closed)).toMatchObject({ code: 'refused', reason: 'notOwner' });
      expect((await client.runs.list()).map(({ state }) => state)).toEqual(['running']);
    });

    it('refuses a second holder of the lease', async () => {
      const second = client.keepAlive(name);
      expect(await failure(second.closed)).toMatchObject({ reason: 'leaseHeld' });
    });
  });

  it.each([
    ['a name that is unknown', () => client.waitProcess({ value: 'rancher-wins-nobody' })],
    ['an empty name', () => client.waitProcess({ value: '' })],
  ])('has an error for %s', async (_what, wait) => {
    const error = await failure(
      (async () => {
        for await (const _ of wait());
      })(),
    );
    expect(error).toMatchObject({ code: 'notFound' });
  });

  it('refuses a request of more than 1 MiB and goes on', async () => {
    const huge = { ...startRequest(quick), args: ['x'.repeat(1_500_000)] };
    expect(await failure(client.startProcess(huge))).toMatchObject({
      grpcCode: status.RESOURCE_EXHAUSTED,
    });
    expect((await client.info()).version).toMatch(/^v/);
  });

  it('takes no more than 512 calls that follow output, and says so', async () => {
    const name = await client.startProcess(startRequest(sleeper));
    const lease = client.keepAlive(name);
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const clients = Array.from({ length: 3 }, () => createWinsClient({ address }));
    const waits = clients.flatMap((other) =>
      Array.from({ length: 200 }, () =>
        other.waitProcess(name, { signal: stop.signal })[Symbol.asyncIterator]().next(),
      ),
    );
    const refused = await Promise.any(
      waits.map(async (wait) => {
        const error = await failure(wait);
        if (error.reason !== 'tooManyListeners') throw error;
        return error;
      }),
    );
    expect(refused.grpcCode).toBe(status.RESOURCE_EXHAUSTED);
    stop.abort();
    await Promise.allSettled(waits);
    await lease.end();
    for (const other of clients) await other.close();
    expect(await readAll(await client.startProcess(startRequest(quick)))).toBe('quick\nexit 4');
  });

  it('withstands more connections than it accepts, and serves again when they are gone', async () => {
    const sockets: Socket[] = [];
    for (let index = 0; index < 1500; index += 1) {
      const socket = connect(address);
      socket.on('error', () => undefined);
      sockets.push(socket);
      // The system refuses some connections while the socket's queue is full; the test allows this.
      if (index % 100 === 0)
        await new Promise((resolve) => socket.once('ready', resolve).once('close', resolve));
    }
    for (const socket of sockets) socket.destroy();
    // The daemon notices the closed connections one by one, and may still refuse a new client for a while.
    for (let served = false; !served;) {
      const after = createWinsClient({ address });
      served = await after.info().then(
        () => true,
        () => false,
      );
      await after.close();
    }
  });

  it('marks its errors with the code of the rule that refused', async () => {
    const error = await failure(client.startProcess({ ...startRequest(quick), path: '/bin/sh' }));
    expect(error).toMatchObject({
      code: 'refused',
      reason: 'pathNotAllowed',
      grpcCode: status.INVALID_ARGUMENT,
    });
    expect(error.details).toMatch(/^invalid path/);
  });
});
