import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { connect, createServer, Socket, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { WebSocketServer } from 'ws';
import {
  openTunnel,
  serveTunnel,
  TunnelError,
  webSocketServerOptions,
  type ServerTunnel,
} from './index.js';
import { turns } from './testing/living-bytes.js';
import { RawPeer } from './testing/raw-peer.js';
import { until } from './testing/tcp-server.js';

describe('openTunnel with ports to publish', () => {
  let folder: string;
  let address: string;
  let daemon: Server;
  let asked: IncomingMessage[];
  let served: ServerTunnel[];
  let hostPort: number;
  const program = createServer((socket) => socket.on('error', () => undefined).end('hello'));

  beforeAll(async () => {
    hostPort = ((await listening(program)).address() as AddressInfo).port;
  });
  afterAll(() => program.close());

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'publish-'));
    address = path.join(folder, 'tunnel');
    asked = [];
    served = [];
    const webSockets = new WebSocketServer({ noServer: true, ...webSocketServerOptions() });
    daemon = createHttpServer().on('upgrade', (request, socket, head) => {
      asked.push(request);
      webSockets.handleUpgrade(request, socket, head, (webSocket) =>
        served.push(serveTunnel(webSocket, { allowedPorts: [hostPort] })),
      );
    });
    daemon.listen(address);
    await once(daemon, 'listening');
  });
  afterEach(async () => {
    await Promise.all(served.map((tunnel) => tunnel.close()));
    daemon.close();
    await rm(folder, { recursive: true });
  });

  async function listening(server: typeof program): Promise<typeof program> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }

  const read = (port: number): Promise<string> => text(connect(port, '127.0.0.1'));

  async function failure(call: Promise<unknown>): Promise<unknown> {
    return call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
  }

  it('makes them reachable on the loopback, until it is disposed', async () => {
    let port: number;
    {
      await using tunnel = await openTunnel({ address, publish: [{ hostPort, port: 0 }] });
      port = tunnel.ports[0]?.port ?? 0;
      expect(tunnel.ports).toEqual([{ hostPort, port, host: '127.0.0.1' }]);
      expect(await read(port)).toBe('hello');
    }
    await expect(read(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(served[0]?.closed).resolves.toMatchObject({ reason: 'peer-closed' });
  });

  it('names itself to the daemon, in characters that a header may have', async () => {
    await using _tunnel = await openTunnel({ address, publish: [], clientName: 'pod é\r\n1' });
    expect(asked[0]?.headers['rancher-wins-cli-proxy']).toBe('pod????1');
  });

  it('takes a connection that somebody else made and judged', async () => {
    const dial = async () => {
      const socket = connect(address);
      await once(socket, 'connect');
      return socket;
    };
    await using tunnel = await openTunnel({ dial, publish: [{ hostPort, port: 0 }] });
    expect(await read(tunnel.ports[0]?.port ?? 0)).toBe('hello');
  });

  it('listens no more once the tunnel ended, and tells why', async () => {
    const tunnel = await openTunnel({ address, publish: [{ hostPort, port: 0 }] });
    await served[0]?.close();
    expect(await tunnel.closed).toMatchObject({ reason: 'peer-closed' });
    await expect(read(tunnel.ports[0]?.port ?? 0)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await tunnel.close();
  });

  it('tells why a connection got no stream', async () => {
    const refused: unknown[] = [];
    const onRefused = (error: unknown): void => void refused.push(error);
    const publish = [{ hostPort: 1, port: 0 }];
    await using tunnel = await openTunnel({ address, publish, onRefused });
    await failure(read(tunnel.ports[0]?.port ?? 0));
    expect(refused).toEqual([expect.objectContaining({ code: 'connectRefused' })]);
  });

  it('leaves nothing open when a port is taken', async () => {
    const publish = [{ hostPort, port: 0 }, hostPort];
    const error = await failure(openTunnel({ address, publish }));
    expect(error).toMatchObject({ code: 'addressInUse', port: hostPort });
    await expect(served[0]?.closed).resolves.toMatchObject({ reason: 'peer-closed' });
  });

  it('says that nothing serves the pipe, or something else does', async () => {
    const missing = path.join(folder, 'missing');
    const error = await failure(openTunnel({ address: missing, publish: [hostPort] }));
    expect(error).toBeInstanceOf(TunnelError);
    expect(error).toMatchObject({ code: 'unreachable', cause: { code: 'ENOENT' } });
    daemon.removeAllListeners('upgrade');
    daemon.on('request', (_request, response) => response.writeHead(418).end());
    const other = await failure(openTunnel({ address, publish: [hostPort] }));
    expect(other).toMatchObject({ code: 'unreachable' });
    const dial = () => Promise.reject(new Error('not trusted'));
    const judged = await failure(openTunnel({ dial, publish: [hostPort] }));
    expect(judged).toMatchObject({ code: 'unreachable', cause: { message: 'not trusted' } });
  });

  it('refuses what is no port, and no address, before it connects', async () => {
    for (const wrong of [0, 65_536, 1.5, { hostPort: 80, port: -1 }])
      expect(await failure(openTunnel({ address, publish: [wrong] }))).toMatchObject({
        code: 'invalidPort',
      });
    expect(await failure(openTunnel({ address: 'a/b', publish: [] }))).toMatchObject({
      code: 'invalidOption',
    });
    expect(asked).toEqual([]);
  });

  it('gives up by its signal, or in time, while it is dialled, and closes a connection that comes too late', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const told: AbortSignal[] = [];
    const late: ((socket: Socket) => void)[] = [];
    const dial = (signal: AbortSignal): Promise<Socket> => {
      told.push(signal);
      return new Promise((resolve) => late.push(resolve));
    };
    const stopped = failure(openTunnel({ dial, publish: [hostPort], signal: abort.signal }));
    const slow = failure(openTunnel({ dial, publish: [hostPort], timeoutMs: 1 }));
    expect(await slow).toMatchObject({ code: 'unreachable', cause: { name: 'TimeoutError' } });
    expect(told.map(({ aborted }) => aborted)).toEqual([false, true]);
    abort.abort(reason);
    expect(await stopped).toMatchObject({ code: 'aborted', cause: reason });
    expect(told.map((signal) => signal.reason as unknown)).toEqual([
      reason,
      expect.objectContaining({ name: 'TimeoutError' }),
    ]);
    for (const resolve of late) {
      const socket = new Socket();
      resolve(socket);
      await once(socket, 'close');
    }
    const { signal } = abort;
    expect(await failure(openTunnel({ dial, publish: [hostPort], signal }))).toMatchObject({
      code: 'aborted',
      cause: reason,
    });
    expect(told).toHaveLength(2);
  });

  it('is drained when the peer has all that its closed connections sent', async () => {
    const webSockets = new WebSocketServer({ noServer: true, ...webSocketServerOptions() });
    let peer: RawPeer | undefined;
    daemon.removeAllListeners('upgrade').on('upgrade', (request, socket, head) =>
      webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        peer = new RawPeer(webSocket);
        peer.send(peer.encode.hello());
      }),
    );
    const tunnel = await openTunnel({ address, publish: [{ hostPort, port: 0 }] });
    const local = connect({ port: tunnel.ports[0]?.port ?? 0, allowHalfOpen: true });
    const closed = once(local.resume(), 'close');
    await until(() => peer?.count('connect') === 1);
    peer?.send(peer.encode.pause(1));
    peer?.send(peer.encode.end(1));
    await once(local, 'end');
    local.end('the rest');
    await closed;
    const drained = tunnel.drain();
    await turns(200);
    peer?.send(peer.encode.resume(1));
    await drained;
    expect(peer?.dataOf(1).toString()).toBe('the rest');
  });

  it('gives up by its signal', async () => {
    const publish = [hostPort];
    const early = AbortSignal.abort();
    expect(await failure(openTunnel({ address, publish, signal: early }))).toMatchObject({
      code: 'aborted',
    });
    const abort = new AbortController();
    const tunnel = await openTunnel({ address, publish: [], signal: abort.signal });
    abort.abort();
    expect(await tunnel.closed).toMatchObject({ reason: 'aborted' });
    await tunnel.close();
  });
});
