import { EVERYBODY, type ClientIdentity, type PipeSecurity } from '@wins/base';
import { buildSync } from 'esbuild';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import * as http2 from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connectPipe } from './connect-pipe.js';
import { listenPipe } from './listen-pipe.js';

const echo = (connection: Socket): void => void connection.pipe(connection);

describe('listenPipe', () => {
  let runtimeDir = '';

  beforeAll(async () => {
    runtimeDir = await mkdtemp(join(tmpdir(), 'wins-listen-'));
  });

  afterAll(async () => {
    await rm(runtimeDir, { recursive: true });
  });

  const connect = (): Promise<Socket> => connectPipe('x', { runtimeDir });

  test('makes nothing beside its folder, which may be the only one that is ours', async () => {
    const beside = await mkdtemp(join(tmpdir(), 'wins-beside-'));
    const folder = join(beside, 'run');
    await mkdir(folder, { mode: 0o700 });
    const then = new Date('2001-01-01T00:00:00Z');
    await utimes(beside, then, then);
    const listener = await listenPipe(join(folder, 'x'), { onConnection: echo });
    await listener.close();
    expect((await stat(beside)).mtime).toEqual(then);
    expect(await readdir(folder)).toEqual([]);
    await rm(beside, { recursive: true });
  });

  test('tells its receiver who connects, before anything is read, and takes nobody for an administrator unasked', async () => {
    const clients: ClientIdentity[] = [];
    const onConnection = (connection: Socket, client: ClientIdentity): void => {
      clients.push(client);
      connection.end('hello');
    };
    const known: ClientIdentity = { ...EVERYBODY, key: 'uid:7', isEverybody: false };
    const identify = ({ bytesRead }: Socket): ClientIdentity => ({
      ...known,
      names: [`${bytesRead} bytes`],
    });
    for (const options of [{}, { identify }]) {
      const listener = await listenPipe('x', { runtimeDir, onConnection, ...options });
      const connection = await connect();
      await once(connection.resume(), 'close');
      await listener.close();
    }
    expect(clients).toEqual([EVERYBODY, { ...known, names: ['0 bytes'] }]);
    expect(EVERYBODY.isAdministrator).toBe(false);
  });

  test('spares an HTTP/2 client that has greeted and closes one that has not', async () => {
    const server = http2.createServer();
    const listener = await listenPipe('x', {
      runtimeDir,
      handshakeTimeoutMs: 100,
      onConnection: (connection) => server.emit('connection', connection),
    });
    const socket = await connect();
    const session = http2.connect('http://pipe', { createConnection: () => socket });
    await once(session, 'remoteSettings');
    // `silent` connects after `session`: when `silent` is closed, the deadline of `session` has passed too.
    const silent = await connect();
    silent.resume();
    await once(silent, 'close');
    await new Promise<void>((resolve, reject) => {
      session.ping((error) => (error === null ? resolve() : reject(error)));
    });
    expect(silent.bytesRead).toBeGreaterThan(0);
    session.destroy();
    await listener.close();
  });

  test('does not blame a peer whose bytes came during a stall of this process', async () => {
    const listener = await listenPipe('x', {
      runtimeDir,
      handshakeTimeoutMs: 20,
      onConnection: (connection) => {
        echo(connection);
        // Block this process until long after the deadline.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
      },
    });
    const client = await connect();
    client.write('in time');
    const answer = await Promise.race([once(client, 'data'), once(client, 'close')]);
    expect(String(answer)).toBe('in time');
    await listener.close();
  });

  test('gives the same cap and deadlines to connections of a given endpoint', async () => {
    const refused: string[] = [];
    const server = createServer();
    const security: PipeSecurity = {
      open: async (path, events) => {
        expect(path).toEqual({ name: 'x', address: '\\\\.\\pipe\\x', kind: 'named-pipe' });
        server.on('connection', (connection) => events.accepted(connection));
        server.listen(join(runtimeDir, 'given'));
        await once(server, 'listening');
        events.failed(Object.assign(new Error('accept'), { code: 'EMFILE' }));
        const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
        return { close, [Symbol.asyncDispose]: close };
      },
    };
    const listener = await listenPipe('x', {
      platform: 'win32',
      security,
      maxConnections: 1,
      handshakeTimeoutMs: 30,
      onConnection: echo,
      onError: (error) => refused.push(`${error.code}: ${error.message}`),
    });
    const first = await connectPipe(join(runtimeDir, 'given'));
    const second = await connectPipe(join(runtimeDir, 'given'));
    await Promise.all([first, second].map((client) => once(client.resume(), 'close')));
    await listener.close();
    expect(server.listening).toBe(false);
    expect(refused).toEqual([
      'unknown: cannot accept on pipe "x" (\\\\.\\pipe\\x): this process has no file descriptors left; the listener keeps accepting',
      'busy: cannot accept on pipe "x" (\\\\.\\pipe\\x): 1 connections are open, which is the limit',
    ]);
  });

  test('does not open an unprotected pipe on Windows', async () => {
    await expect(listenPipe('x', { platform: 'win32', onConnection: echo })).rejects.toMatchObject({
      code: 'securityUnavailable',
    });
  });

  test('translates what a given endpoint fails with', async () => {
    const security: PipeSecurity = {
      open: () => Promise.reject(Object.assign(new Error('taken'), { code: 'EADDRINUSE' })),
    };
    await expect(
      listenPipe('x', { platform: 'win32', security, onConnection: echo }),
    ).rejects.toMatchObject({ code: 'inUse', cause: { message: 'taken' } });
  });

  test('closes what was opened while the signal was aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const opening = listenPipe('x', { runtimeDir, onConnection: echo, signal: controller.signal });
    controller.abort(reason);
    await expect(opening).rejects.toMatchObject({ code: 'aborted', cause: reason });
    expect(await readdir(runtimeDir)).not.toContain('x');
  });

  test.each([
    ['maxConnections', { maxConnections: 0 }],
    ['maxConnections', { maxConnections: 1.5 }],
    ['handshakeTimeoutMs', { handshakeTimeoutMs: 0 }],
    ['handshakeTimeoutMs', { handshakeTimeoutMs: 2 ** 31 }],
    ['handshakeTimeoutMs', { handshakeTimeoutMs: NaN }],
  ])('refuses a %s that is not a whole number in range', async (option, limits) => {
    await expect(listenPipe('x', { runtimeDir, onConnection: echo, ...limits })).rejects.toThrow(
      new RegExp(`^${option} is `),
    );
  });

  test('refuses a grace time that is not a whole number, and can be closed after', async () => {
    const listener = await listenPipe('x', { runtimeDir, onConnection: echo });
    await expect(listener.close({ graceMs: -1 })).rejects.toThrow(RangeError);
    await listener.close();
    expect(await readdir(runtimeDir)).not.toContain('x');
  });

  test('an accepted connection that fails ends alone, though nobody listens to its error', async () => {
    const listener = await listenPipe('x', {
      runtimeDir,
      onConnection: (connection) =>
        connection.once('data', () => connection.destroy(new Error('bad'))),
    });
    const client = await connect();
    client.write('x');
    await once(client.resume(), 'close');
    (await connect()).destroy();
    await listener.close();
  });

  test('holds 1,100 idle connections, more than a daemon accepts, and still serves', async () => {
    // Two descriptors per connection, because both ends are in this process.
    const free = Math.floor((descriptorLimit() - 500) / 2);
    const listener = await listenPipe('x', {
      runtimeDir,
      maxConnections: 2_000,
      handshakeTimeoutMs: 600_000,
      onConnection: echo,
    });
    for (let left = 1_100; left > 0; left -= free) {
      const idle: Socket[] = [];
      while (idle.length < Math.min(free, left))
        idle.push(...(await Promise.all(Array.from({ length: 50 }, connect))));
      while (listener.connectionCount < idle.length) await new Promise((r) => setTimeout(r, 2));
      const client = await connect();
      client.write('served');
      expect(String((await once(client, 'data'))[0])).toBe('served');
      for (const connection of [...idle, client]) connection.destroy();
      while (listener.connectionCount > 0) await new Promise((r) => setTimeout(r, 2));
    }
    await listener.close();
  });

  test('outlives the lack of file descriptors', async () => {
    const bundle = join(runtimeDir, 'pipe-transport.cjs');
    const entryPoints = [join(__dirname, 'index.ts')];
    const conditions = ['@wins/source'];
    buildSync({ entryPoints, outfile: bundle, bundle: true, platform: 'node', conditions });
    const program = join(__dirname, 'fixtures', 'programs', 'exhaust-descriptors.cjs');
    const child = spawn(
      '/bin/sh',
      ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, program, bundle, runtimeDir, 'x'],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<unknown> => (await lines.next()).value;
    expect(await next()).toBe('exhausted');
    const clients = await Promise.all(Array.from({ length: 5 }, connect));
    // The system accepted the clients, but without descriptors the process can only close them.
    await Promise.all(clients.map((client) => once(client.resume(), 'close')));
    child.stdin.write('go on\n');
    expect(await next()).toBe('free');
    const client = await connect();
    client.write('still');
    expect(String((await once(client, 'data'))[0])).toBe('still');
    client.destroy();
    const end = once(child, 'exit');
    child.stdin.end();
    expect(await end).toEqual([0, null]);
  });
});

function descriptorLimit(): number {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : 1024;
}
