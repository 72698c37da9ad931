import { once } from 'node:events';
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { Daemon, type LogRecord } from '../testing/daemon.js';
import { readPattern } from '../testing/tunnel/pattern.js';
import { answerPattern, sendPattern } from '../testing/tunnel/pattern-tunnel.js';
import { ask, connected } from '../testing/tunnel/published-port.js';
import { freePorts, HostProgram, textOf, Tunnel } from '../testing/tunnel/tunnel.js';
import { Workspace } from '../testing/workspace.js';

const KIB = 1024;
const MIB = 1024 * KIB;

describe('the tunnel', () => {
  let workspace: Workspace;
  let web: HostProgram;
  let host: HostProgram;
  let onSix: HostProgram;
  let daemon: Daemon;
  let tunnel: Tunnel;
  let port: number;
  /** Published port of `host`. */
  let hostPort: number;
  let sixPort: number;
  /** Decides how `host` treats a connection. */
  let serve: (socket: Socket) => void;

  beforeAll(async () => {
    workspace = new Workspace();
    web = await HostProgram.http(answerPattern);
    web.onUpgrade((incoming, socket, head) =>
      new WebSocketServer({ noServer: true }).handleUpgrade(incoming, socket, head, (webSocket) =>
        webSocket.on('message', (data, binary) => webSocket.send(data, { binary })),
      ),
    );
    host = await HostProgram.tcp((socket) => serve(socket));
    onSix = await HostProgram.tcp((socket) => socket.end('six'), '::1');
    const proxyPorts = [web.port, host.port, onSix.port];
    daemon = await Daemon.start(workspace, workspace.config([], { white_list: { proxyPorts } }));
    [port = 0, hostPort = 0, sixPort = 0] = await freePorts(3);
    const publish = `TCP:${port}:${web.port} TCP:${hostPort}:${host.port} TCP:${sixPort}:${onSix.port}`;
    tunnel = await Tunnel.start(workspace, publish);
  });
  afterAll(async () => {
    await tunnel[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
    for (const program of [web, host, onSix]) await program[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it.each([0, 1, 64 * KIB, 10 * MIB, 32 * MIB])(
    'carries an answer of %i bytes unchanged',
    async (sizeBytes) => {
      expect(await readPattern(await ask(port, `/${sizeBytes}`))).toBe(sizeBytes);
    },
  );

  it.each([0, 1, 64 * KIB, 32 * MIB])('carries a request of %i bytes unchanged', async (size) => {
    expect(await sendPattern(port, size)).toBe(String(size));
  });

  it('keeps a connection for many requests', async () => {
    const before = web.connections;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let index = 0; index < 50; index += 1) {
      expect(await readPattern(await ask(port, `/${index}`, { agent }))).toBe(index);
    }
    agent.destroy();
    expect(web.connections).toBe(before + 1);
  });

  it('ends a connection of which the server says "Connection: close"', async () => {
    const socket = await connected(port);
    socket.write('GET /5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await textOf(socket)).toMatch(/connection: close[^]*\r\n\r\n[^]{5}$/i);
    socket.end();
  });

  it('carries many streams side by side', async () => {
    const sizes = Array.from({ length: 60 }, (_, index) => index * 50 * KIB);
    const read = await Promise.all(
      sizes.map(async (sizeBytes) => readPattern(await ask(port, `/${sizeBytes}`))),
    );
    expect(read).toEqual(sizes);
  });

  it('writes an audit record for each connection', async () => {
    const skip = daemon.log.length;
    const isRecord = ({ log, action }: LogRecord): boolean =>
      log === 'audit' && action === 'connect';
    // Retry: only ten connections a second get a record, and the previous test may have used these up.
    while (!daemon.log.slice(skip).some(isRecord)) await textOf(await ask(port, '/1'));
    const record = await daemon.logged(isRecord, skip);
    expect(record).toMatchObject({
      level: 'info',
      msg: `allowed to connect to port ${web.port}`,
      action: 'connect',
      verdict: 'allowed',
      requester: 'tunnel:1',
      rule: 'port-allowed',
      port: web.port,
    });
  });

  it('brings the answer to a client that ended its request, also when it comes only then', async () => {
    serve = (socket) => {
      void textOf(socket).then((question) => socket.end(`you said: ${question}`));
    };
    const socket = await connected(hostPort);
    socket.end('x'.repeat(300_000));
    expect(await textOf(socket)).toBe(`you said: ${'x'.repeat(300_000)}`);
  });

  it('brings what a client sends after the program ended its side', async () => {
    const heard: Promise<string>[] = [];
    serve = (socket) => {
      heard.push(textOf(socket));
      socket.end('over');
    };
    const socket = await connected(hostPort);
    expect(await textOf(socket)).toBe('over');
    socket.end('and out');
    expect(await heard[0]).toBe('and out');
  });

  it('reaches one that listens on ::1 only', async () => {
    expect(await textOf(await connected(sixPort))).toBe('six');
  });

  it('carries a WebSocket', async () => {
    const client = new WebSocket(`ws://127.0.0.1:${port}/`);
    await once(client, 'open');
    for (let index = 0; index < 500; index += 1) {
      client.send(`message ${index}`);
      const [data] = (await once(client, 'message')) as [Buffer];
      expect(data.toString()).toBe(`message ${index}`);
    }
    client.close();
    await once(client, 'close');
  });
});
