import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import {
  openTunnel,
  serveTunnel,
  TunnelHandshakes,
  type TunnelHandshakesOptions,
  type TunnelRequest,
} from './index.js';

const MASK = Buffer.alloc(16).toString('base64');

describe('the handshakes of tunnels', () => {
  let folder: string;
  let address: string;
  let program: Server;
  let server: Server;
  let handshakes: TunnelHandshakes<string>;
  let seen: (readonly [TunnelRequest, string])[];
  let allowed: number;

  /** Serves tunnels on a Unix socket. Each connection has a number as its guest. */
  async function serve(
    options: Omit<TunnelHandshakesOptions<string>, 'opened'> = {},
  ): Promise<void> {
    let count = 0;
    handshakes = new TunnelHandshakes({
      ...options,
      opened: (webSocket, localConnection, guest, request) => {
        seen.push([request, guest]);
        serveTunnel(webSocket, { localConnection, allowedPorts: [allowed] });
      },
    });
    server = createServer((socket) => handshakes.begin(socket, `guest ${(count += 1)}`));
    await once(server.listen(address), 'listening');
  }

  /** Sends text, and returns the whole answer. */
  async function answerTo(request: string): Promise<string> {
    const socket = connect(address);
    socket.write(request);
    return text(socket);
  }

  const handshake = (...more: readonly string[]): string =>
    [
      'GET /there?a=1 HTTP/1.1',
      'Host: wins',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${MASK}`,
      ...more,
      '\r\n',
    ].join('\r\n');

  const open = (options: { path?: string; headers?: Record<string, string> } = {}) =>
    openTunnel({ address, publish: [{ hostPort: allowed, port: 0 }], ...options });

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'handshakes-'));
    address = path.join(folder, 'tunnel');
    seen = [];
    program = createServer((socket) => socket.on('error', () => undefined).end('hello'));
    await once(program.listen(0, '127.0.0.1'), 'listening');
    allowed = (program.address() as AddressInfo).port;
  });
  afterEach(async () => {
    server.close();
    program.close();
    if (server.listening) await once(server, 'close');
    rmSync(folder, { recursive: true });
  });

  it('make tunnels of connections, and tell what each client says and who it is', async () => {
    await serve();
    await using tunnel = await open({ path: '/there?a=1', headers: { authorization: 'Bearer x' } });
    expect(await text(connect(tunnel.ports[0]?.port ?? 0, '127.0.0.1'))).toBe('hello');
    expect(seen).toMatchObject([
      [{ path: '/there?a=1', headers: { authorization: 'Bearer x' } }, 'guest 1'],
    ]);
  });

  it('are refused with 401 when the caller says no, later or by an error', async () => {
    const verdicts: (() => boolean | Promise<boolean>)[] = [
      () => false,
      () => Promise.resolve(false),
      () => Promise.reject(new Error('the list of tokens is unreadable')),
      () => {
        throw new Error('no such token');
      },
      () => Promise.resolve(true),
    ];
    await serve({ authorize: () => verdicts.shift()?.() ?? false });
    for (let refused = 1; refused <= 4; refused += 1)
      await expect(open()).rejects.toMatchObject({
        code: 'unreachable',
        message: expect.stringContaining('401') as string,
      });
    await using _tunnel = await open();
    expect(seen).toHaveLength(1);
  });

  it('do not outlive the time limit while the caller decides', async () => {
    const never = new Promise<boolean>(() => undefined);
    await serve({ timeoutMs: 20, authorize: () => never });
    expect(await answerTo(handshake())).toBe('');
    expect(await answerTo('GET /')).toBe('');
    expect(seen).toEqual([]);
  });

  it('survive a client that goes while the caller decides', async () => {
    const verdicts: ((may: boolean) => void)[] = [];
    const asked = new EventEmitter();
    await serve({
      authorize: () =>
        new Promise((decide) => {
          verdicts.push(decide);
          asked.emit('asked');
        }),
    });
    const client = connect(address);
    client.write(handshake());
    await once(asked, 'asked');
    client.destroy();
    await once(client, 'close');
    verdicts[0]?.(true);
    const later = open();
    await once(asked, 'asked');
    verdicts[1]?.(true);
    await using tunnel = await later;
    expect(await text(connect(tunnel.ports[0]?.port ?? 0, '127.0.0.1'))).toBe('hello');
  });

  it('have an escaped name of at most 128 characters, which may be empty', async () => {
    await serve({ authorize: () => false });
    const names: string[] = [];
    handshakes = new TunnelHandshakes({
      authorize: ({ clientName }) => names.push(clientName) === 0,
      opened: () => undefined,
    });
    for (const header of [[], [`rancher-wins-cli-proxy: ${'\x80'.repeat(200)}`]])
      expect(await answerTo(handshake(...header))).toMatch(/^HTTP\/1\.1 401 /);
    expect([names[0], names[1]?.length]).toEqual(['', 128]);
  });

  it('are answered with 426 without an upgrade, and with 503 after the refusal of all', async () => {
    await serve();
    expect(await answerTo('GET / HTTP/1.1\r\nHost: wins\r\n\r\n')).toMatch(/^HTTP\/1\.1 426 /);
    handshakes.refuse();
    expect(await answerTo(handshake())).toMatch(/^HTTP\/1\.1 503 /);
    expect(seen).toEqual([]);
  });
});

describe('a request for a tunnel', () => {
  it('is refused before a connection for a path or headers that HTTP does not allow', async () => {
    const open = (options: { path?: string; headers?: Record<string, string> }) =>
      openTunnel({
        publish: [],
        dial: () => Promise.reject(new Error('it dialled')),
        ...options,
      }).catch((error: unknown) => error);
    for (const options of [
      { path: 'there' },
      { path: '/a b' },
      { path: '/a#b' },
      { path: '/\n' },
      { headers: { 'a b': 'c' } },
      { headers: { authorization: 'secret\r\nx: y' } },
    ]) {
      const error = await open(options);
      expect(error).toMatchObject({ code: 'invalidOption' });
      expect(String(error)).not.toContain('secret');
    }
  });
});
