import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { type ClientTunnel, openTunnel } from './client-tunnel.js';
import { serveTunnel, type ServerTunnel } from './serve-tunnel.js';
import { readAll, startTcpServer, until, type TcpServer } from './testing/tcp-server.js';
import {
  cutInto,
  dialWebSocket,
  openPair,
  startTransportServer,
  type TunnelPair,
} from './testing/tunnel-pair.js';
import { listenTcp } from './tcp/tcp-listener.js';
import { TunnelError } from './tunnel-error.js';
import { webSocketServerOptions } from './web-socket/web-socket-options.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function echoServer(): Promise<TcpServer> {
  const echo = await startTcpServer((socket) => socket.pipe(socket));
  closers.push(() => echo.close());
  return echo;
}

async function pair(...args: Parameters<typeof openPair>): Promise<TunnelPair> {
  const opened = await openPair(...args);
  closers.push(() => opened.close());
  return opened;
}

async function echoes(client: ClientTunnel, port: number): Promise<void> {
  const stream = client.connect(port);
  const sent = randomBytes(3000);
  stream.end(sent);
  expect((await readAll(stream)).equals(sent)).toBe(true);
}

function codeOf(call: () => unknown): string | undefined {
  try {
    call();
  } catch (error) {
    if (error instanceof TunnelError) return error.code;
  }
  return undefined;
}

/** Blocks the event loop, as a garbage collection or a suspended machine does. */
function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('a session', () => {
  it.each([1, 2, 3, 7])(
    'understands frames that arrive %i bytes at a time, in both roles',
    async (bytes) => {
      const echo = await echoServer();
      const http = createServer();
      const webSockets = new WebSocketServer({ noServer: true, ...webSocketServerOptions() });
      const served = new Promise<ServerTunnel>((resolve) =>
        http.on('upgrade', (request, socket, head) =>
          webSockets.handleUpgrade(request, socket, head, (webSocket) =>
            resolve(serveTunnel(webSocket, { allowedPorts: [echo.port] })),
          ),
        ),
      );
      // The TCP server passes received data to the HTTP server, `bytes` bytes at a time.
      const accepting = await startTcpServer((socket) =>
        http.emit(
          'connection',
          Duplex.from({ readable: socket.pipe(cutInto(bytes)), writable: socket }),
        ),
      );
      const webSocket = await dialWebSocket(() => {
        const socket = connect(accepting.port, '127.0.0.1');
        return Duplex.from({ readable: socket.pipe(cutInto(bytes)), writable: socket });
      });
      const client = openTunnel(webSocket);
      const server = await served;
      await echoes(client, echo.port);
      await Promise.all([client.close(), server.close()]);
      await accepting.close();
    },
  );

  it('closes a peer that has been silent for too long', async () => {
    const transport = await startTransportServer((socket) => socket.pause());
    closers.push(() => transport.close());
    const client = openTunnel(await transport.dial(), {
      times: { tickMs: 10, silenceTimeoutMs: 50 },
    });
    const stream = client.connect(80);
    const [error] = (await once(stream, 'error')) as [TunnelError];
    expect(error.code).toBe('sessionEnded');
    expect(await client.closed).toMatchObject({ reason: 'failed', error: { code: 'peerSilent' } });
  });

  it('does not take a stall of its own event loop for silence of the peer', async () => {
    const echo = await echoServer();
    const times = { tickMs: 20, silenceTimeoutMs: 200 };
    const tunnel = await pair({ allowedPorts: [echo.port], times }, { times });
    await echoes(tunnel.client, echo.port);
    stall(500);
    await echoes(tunnel.client, echo.port);
    expect([tunnel.client.state, tunnel.server.state]).toEqual(['open', 'open']);
  });

  it('lets open streams finish when it drains, and refuses new ones on both ends', async () => {
    const echo = await echoServer();
    const tunnel = await pair({ allowedPorts: [echo.port] });
    const stream = tunnel.client.connect(echo.port);
    stream.write('first');
    await once(stream, 'data');
    const drained = tunnel.server.drain();
    const late = tunnel.client.connect(echo.port);
    const [error] = (await once(late, 'error')) as [TunnelError];
    expect(error.message).toContain('connect not allowed: draining');
    const clientDrained = tunnel.client.drain();
    expect(codeOf(() => tunnel.client.connect(echo.port))).toBe('draining');
    const answer = readAll(stream);
    stream.end('last');
    expect((await answer).toString()).toBe('last');
    expect((await drained).reason).toMatch(/closed/);
    expect((await clientDrained).reason).toMatch(/closed/);
  });

  it('resets its streams on close, once, and keeps the first cause', async () => {
    const echo = await echoServer();
    const tunnel = await pair({ allowedPorts: [echo.port] });
    const stream = tunnel.client.connect(echo.port);
    stream.write('x');
    await once(stream, 'data');
    const failed = once(stream, 'error') as Promise<[TunnelError]>;
    await Promise.all([tunnel.server.close(), tunnel.server.close()]);
    await tunnel.server.close();
    expect((await failed)[0].message).toContain('the tunnel ended (closed)');
    expect(await tunnel.server.closed).toEqual({ reason: 'closed' });
    expect(await tunnel.client.closed).toEqual({ reason: 'peer-closed', code: 1000, text: '' });
    expect(tunnel.server.streamCount).toBe(0);
    await until(() => echo.sockets.size === 0);
    expect(codeOf(() => tunnel.client.connect(echo.port))).toBe('sessionEnded');
  });

  it('ends when its signal fires, also one that had fired before', async () => {
    const before = await pair({ allowedPorts: [] }, { signal: AbortSignal.abort() });
    expect(await before.client.closed).toEqual({ reason: 'aborted' });
    const controller = new AbortController();
    const tunnel = await pair({ allowedPorts: [], signal: controller.signal });
    controller.abort();
    expect(await tunnel.server.closed).toEqual({ reason: 'aborted' });
  });

  it('tears a WebSocket down whose peer does not answer the close', async () => {
    const transport = await startTransportServer((socket) => socket.pause());
    closers.push(() => transport.close());
    const client = openTunnel(await transport.dial(), { times: { closeTimeoutMs: 20 } });
    await client.close();
    expect(await client.closed).toEqual({ reason: 'closed' });
  });

  it('destroys a stream whose signal fires, and tells the other end', async () => {
    const echo = await echoServer();
    const tunnel = await pair({ allowedPorts: [echo.port] });
    const controller = new AbortController();
    const stream = tunnel.client.connect(echo.port, { signal: controller.signal });
    stream.write('x');
    await once(stream, 'data');
    controller.abort();
    const [error] = (await once(stream, 'error')) as [TunnelError];
    expect(error.code).toBe('aborted');
    await until(() => echo.sockets.size === 0);
    const { signal } = controller;
    expect(codeOf(() => tunnel.client.connect(echo.port, { signal }))).toBe('aborted');
  });

  it('refuses ports, options and WebSockets that cannot work', async () => {
    const tunnel = await pair({ allowedPorts: [] }, { maxStreams: 1 });
    for (const port of [0, 65_536, 1.5, Number.NaN])
      expect(codeOf(() => tunnel.client.connect(port))).toBe('invalidPort');
    tunnel.client.connect(1).on('error', () => undefined);
    expect(codeOf(() => tunnel.client.connect(1))).toBe('tooManyStreams');
    expect(codeOf(() => tunnel.server.allowPorts([0]))).toBe('invalidOption');
    const socket = new WebSocket('ws+unix:/nowhere:/').on('error', () => undefined);
    expect(codeOf(() => openTunnel(socket, { maxStreams: 0 }))).toBe('invalidOption');
    expect(codeOf(() => openTunnel(socket, { maxStreams: 16_385 }))).toBe('invalidOption');
    expect(codeOf(() => openTunnel(socket, { maxStreams: 16_384 }))).toBe('webSocketNotOpen');
    expect(codeOf(() => openTunnel(socket))).toBe('webSocketNotOpen');
  });

  it('keeps an answer that is complete when the tunnel is lost', async () => {
    let served = false;
    const server = await startTcpServer((socket) => {
      served = true;
      socket.resume().end(Buffer.alloc(500_000, 'a'));
    });
    closers.push(() => server.close());
    const tunnel = await pair({ allowedPorts: [server.port] });
    const stream = tunnel.client.connect(server.port);
    stream.end();
    await until(() => served && tunnel.server.streamCount === 0);
    await tunnel.server.close();
    await tunnel.client.closed;
    expect((await readAll(stream)).length).toBe(500_000);
  });
});

describe('a listener', () => {
  it('outlives 25 restarts of the tunnel under load and leaks nothing', async () => {
    const echo = await echoServer();
    const sessions: ServerTunnel[] = [];
    const transport = await startTransportServer((socket) =>
      sessions.push(serveTunnel(socket, { allowedPorts: [echo.port] })),
    );
    closers.push(() => transport.close());
    let tunnel = openTunnel(await transport.dial());
    const listener = await listenTcp({
      host: '127.0.0.1',
      port: 0,
      open: () => tunnel.connect(echo.port),
    });
    closers.push(() => listener.close());
    let running = true;
    let answered = 0;
    const load = Array.from({ length: 8 }, async () => {
      while (running) if (await tryEcho(listener.port)) answered += 1;
    });
    for (let restart = 0; restart < 25; restart += 1) {
      const enough = answered + 5;
      await until(() => answered >= enough);
      await sessions.at(-1)?.close();
      await tunnel.closed;
      tunnel = openTunnel(await transport.dial());
    }
    running = false;
    await Promise.all(load);
    await until(() => listener.connectionCount === 0);
    await tunnel.close();
    expect(sessions).toHaveLength(26);
    expect(sessions.map((session) => session.streamCount)).toEqual(Array(26).fill(0));
  });

  it('holds a connection until it gets its stream, and loses nothing that was sent meanwhile', async () => {
    const echo = await echoServer();
    const tunnel = await pair({ allowedPorts: [echo.port] });
    let goOn: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const listener = await listenTcp({
      host: '127.0.0.1',
      port: 0,
      open: () => gate.then(() => tunnel.client.connect(echo.port)),
    });
    closers.push(() => listener.close());
    const socket = connect(listener.port, '127.0.0.1');
    socket.end('early');
    await until(() => listener.connectionCount === 1);
    goOn();
    expect((await readAll(socket)).toString()).toBe('early');
  });

  it('says when a connection ends that waits for its stream', async () => {
    let signal: AbortSignal | undefined;
    const refused: unknown[] = [];
    const listener = await listenTcp({
      host: '127.0.0.1',
      port: 0,
      open: (connection) => {
        signal = connection.signal;
        return new Promise((_resolve, reject) =>
          connection.signal.addEventListener('abort', () => reject(new Error('gone'))),
        );
      },
      onRefused: (error) => refused.push(error),
    });
    const socket = connect(listener.port, '127.0.0.1').on('error', () => undefined);
    await until(() => listener.connectionCount === 1);
    expect(signal?.aborted).toBe(false);
    await listener.close();
    await until(() => refused.length === 1);
    expect(signal?.aborted).toBe(true);
    socket.destroy();
  });

  it('resets a connection that gets no stream, and goes on listening', async () => {
    const refused: unknown[] = [];
    const listener = await listenTcp({
      host: '127.0.0.1',
      port: 0,
      open: () => {
        throw new TunnelError('sessionEnded', 'no tunnel');
      },
      onRefused: (error) => refused.push(error),
    });
    closers.push(() => listener.close());
    for (let count = 1; count <= 2; count += 1) {
      const [error] = (await once(connect(listener.port, '127.0.0.1').resume(), 'error')) as [
        NodeJS.ErrnoException,
      ];
      expect(error.code).toBe('ECONNRESET');
      expect(refused).toHaveLength(count);
    }
  });

  it('waits for open connections when it drains and resets them when it closes', async () => {
    const echo = await echoServer();
    const tunnel = await pair({ allowedPorts: [echo.port] });
    const open = async (): Promise<{
      socket: Socket;
      listener: Awaited<ReturnType<typeof listenTcp>>;
    }> => {
      const listener = await listenTcp({
        host: '127.0.0.1',
        port: 0,
        open: () => tunnel.client.connect(echo.port),
      });
      const socket = connect({ port: listener.port, host: '127.0.0.1' });
      socket.write('x');
      await once(socket, 'data');
      return { socket, listener };
    };
    const draining = await open();
    const drained = draining.listener.drain();
    draining.socket.end('y');
    expect((await readAll(draining.socket)).toString()).toBe('y');
    await drained;
    const closing = await open();
    const reset = once(closing.socket, 'error') as Promise<[NodeJS.ErrnoException]>;
    await Promise.all([closing.listener.close(), closing.listener.close()]);
    expect((await reset)[0].code).toBe('ECONNRESET');
  });

  it('turns away a connection above its limit, says so, and serves the next one when there is room', async () => {
    const echo = await echoServer();
    const tunnel = await pair({ allowedPorts: [echo.port] });
    const refused: unknown[] = [];
    const listener = await listenTcp({
      host: '127.0.0.1',
      port: 0,
      open: () => tunnel.client.connect(echo.port),
      maxConnections: 1,
      onRefused: (error) => refused.push(error),
    });
    closers.push(() => listener.close());
    const first = connect(listener.port, '127.0.0.1');
    await until(() => listener.connectionCount === 1);
    await once(connect(listener.port, '127.0.0.1').resume(), 'close');
    expect(refused).toMatchObject([{ code: 'tooManyStreams', port: listener.port }]);
    first.end('first');
    expect((await readAll(first)).toString()).toBe('first');
    await until(() => listener.connectionCount === 0);
    expect(await tryEcho(listener.port)).toBe(true);
  });

  it('listens on its port again when the system gave it no connection, and keeps those it has', async () => {
    const listen = jest.spyOn(Server.prototype, 'listen');
    closers.push(() => {
      listen.mockRestore();
      return Promise.resolve();
    });
    const echo = await echoServer();
    const tunnel = await pair({ allowedPorts: [echo.port] });
    listen.mockClear();
    const refused: unknown[] = [];
    const listener = await listenTcp({
      host: '127.0.0.1',
      port: 0,
      open: () => tunnel.client.connect(echo.port),
      onRefused: (error) => refused.push(error),
    });
    closers.push(() => listener.close());
    const kept = connect(listener.port, '127.0.0.1');
    await until(() => listener.connectionCount === 1);
    const { port } = listener;
    const failed = listen.mock.contexts[0] as Server;
    failed.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
    expect(failed.listening).toBe(false);
    expect(refused).toMatchObject([{ code: 'listenFailed', port }]);
    await until(() => listen.mock.calls.length === 2);
    await until(() => (listen.mock.contexts[1] as Server).listening);
    expect(await tryEcho(port)).toBe(true);
    kept.end('kept');
    expect((await readAll(kept)).toString()).toBe('kept');
    const left = connect(port, '127.0.0.1').on('error', () => undefined);
    await until(() => listener.connectionCount === 1);
    await listener.close();
    expect(listener.connectionCount).toBe(0);
    left.destroy();
  });

  it('does not listen again once it is closed', async () => {
    const listen = jest.spyOn(Server.prototype, 'listen');
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const open = () => Promise.reject(new Error('unused'));
      const listener = await listenTcp({ host: '127.0.0.1', port: 0, open });
      (listen.mock.contexts[0] as Server).emit('error', new Error('accept EMFILE'));
      expect(jest.getTimerCount()).toBe(1);
      await listener.close();
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
      listen.mockRestore();
    }
  });

  it('names the reason when it cannot listen', async () => {
    const taken = await echoServer();
    await expect(
      listenTcp({
        host: '127.0.0.1',
        port: taken.port,
        open: () => Promise.reject(new Error('unused')),
      }),
    ).rejects.toMatchObject({ code: 'addressInUse', port: taken.port });
    await expect(
      listenTcp({ host: '192.0.2.1', port: 0, open: () => Promise.reject(new Error('unused')) }),
    ).rejects.toMatchObject({ code: 'listenFailed' });
  });
});

async function tryEcho(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  socket.end('load');
  try {
    return (await readAll(socket)).toString() === 'load';
  } catch {
    return false;
  }
}
