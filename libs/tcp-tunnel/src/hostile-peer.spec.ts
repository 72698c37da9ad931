import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { openTunnel } from './client-tunnel.js';
import { serveTunnel, type ConnectRecord, type ServerTunnel } from './serve-tunnel.js';
import { livingBytes, turns } from './testing/living-bytes.js';
import { RawPeer } from './testing/raw-peer.js';
import { startTcpServer, until } from './testing/tcp-server.js';
import { dialWebSocket, startTransportServer } from './testing/tunnel-pair.js';
import { plainFrame } from './web-socket/plain-frames.js';
import { PROTOCOL_LIMITS } from './wire/limits.js';

describe('a server under a hostile client', () => {
  const closers: (() => Promise<unknown>)[] = [];
  const records: ConnectRecord[] = [];
  let client: RawPeer;
  let server: ServerTunnel;
  let port: number;
  let connection: Socket;

  beforeEach(async () => {
    records.length = 0;
    const echo = await startTcpServer((socket) => socket.pipe(socket));
    closers.push(() => echo.close());
    port = echo.port;
    let accepted: (session: ServerTunnel) => void = () => undefined;
    const served = new Promise<ServerTunnel>((resolve) => (accepted = resolve));
    const transport = await startTransportServer((socket) =>
      accepted(
        serveTunnel(socket, { allowedPorts: [port], onConnect: (record) => records.push(record) }),
      ),
    );
    closers.push(() => transport.close());
    connection = connect(transport.path);
    client = new RawPeer(await dialWebSocket(() => connection));
    server = await served;
    closers.push(() => server.close());
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function stillServes(): Promise<void> {
    client.send(client.encode.connect(1000, `tcp/localhost:${port}`));
    client.sendData(1000, 'alive');
    await until(() => client.dataOf(1000).toString() === 'alive');
  }

  it('ends the session at a text frame', async () => {
    client.socket.send('text');
    expect(await server.closed).toMatchObject({
      reason: 'failed',
      error: { code: 'protocolViolation' },
    });
  });

  it('answers a reason of a close that is no UTF-8 with 1007', async () => {
    const closed = once(client.socket, 'close');
    client.socket.close(1000, Buffer.of(0xc3, 0x28));
    expect((await closed)[0]).toBe(1007);
    expect(await server.closed).toMatchObject({ reason: 'failed' });
  });

  it.each([
    ['an empty message', Buffer.alloc(0)],
    ['a header that breaks off', Buffer.from([2, 2])],
    ['an integer of eleven bytes', Buffer.from([...Array<number>(10).fill(0xff), 1, 2, 2, 0])],
    ['an integer of 65 bits', Buffer.from([...Array<number>(9).fill(0xff), 2, 2, 2, 0])],
    ['a list that is no multiple of eight', Buffer.from([2, 0, 16, 1, 2, 3])],
    [
      'a list that is too long',
      Buffer.concat([Buffer.from([2, 0, 16]), Buffer.alloc(PROTOCOL_LIMITS.syncBytes + 8)]),
    ],
  ])('ends the session, and only it, at %s', async (_name, bytes) => {
    client.send(bytes);
    expect(await server.closed).toMatchObject({
      reason: 'failed',
      error: { code: 'protocolViolation' },
    });
  });

  it('accepts a list and a message of exactly the limit', async () => {
    client.send(Buffer.concat([Buffer.from([2, 0, 16]), Buffer.alloc(PROTOCOL_LIMITS.syncBytes)]));
    client.send(
      Buffer.concat([Buffer.from([2, 2, 40]), Buffer.alloc(PROTOCOL_LIMITS.messageBytes - 3)]),
    );
    await stillServes();
  });

  it('ends the session at a message one byte above the limit', async () => {
    client.send(Buffer.alloc(PROTOCOL_LIMITS.messageBytes + 1));
    expect(await server.closed).toMatchObject({
      reason: 'failed',
      error: { code: 'webSocketFailed' },
    });
  });

  it('ends the session at a message in too many fragments', async () => {
    for (let index = 0; index < 1025; index += 1)
      client.socket.send(Buffer.alloc(1), { fin: false });
    expect(await server.closed).toMatchObject({
      reason: 'failed',
      error: { code: 'webSocketFailed' },
    });
  });

  it('refuses an address one byte above the limit, and records its beginning', async () => {
    const raw = (length: number, id: number): Buffer =>
      Buffer.concat([Buffer.from([2, id * 2, 4, 0]), Buffer.alloc(length, '\u001b')]);
    client.send(raw(266, 1));
    client.send(raw(267, 2));
    expect(await client.errorOf(1)).toBe('connect not allowed: protocol-tcp');
    expect(await client.errorOf(2)).toBe('connect not allowed: address-length');
    expect(records.map((record) => record.rule)).toEqual(['protocol-tcp', 'address-length']);
    expect(records[0]?.address).toBe(`${'\\u001b'.repeat(44)}…`);
    await stillServes();
  });

  it('keeps little of one byte at a time for a program that reads nothing', async () => {
    const stopped = await startTcpServer((socket) => socket.pause());
    closers.push(() => stopped.close());
    server.allowPorts([stopped.port]);
    client.send(client.encode.connect(1, `tcp/localhost:${stopped.port}`));
    await until(() => stopped.sockets.size === 1);
    const data = (bytes: number): Buffer =>
      plainFrame(true, client.encode.data(1, bytes).message, 0);
    // Fills the buffers of the system.
    for (let count = 0; count < 64; count += 1) connection.write(data(64 * 1024));
    await turns(1_000);
    const before = await livingBytes();
    while (client.count('pause') === 0) {
      connection.write(Buffer.concat(Array.from({ length: 1_000 }, () => data(1))));
      await turns(1);
    }
    expect((await livingBytes()) - before).toBeLessThan(16 * 1024 * 1024);
  }, 60_000);

  it('ignores unknown types, peers of peers, and a second Connect of an open stream', async () => {
    client.send(Buffer.from([2, 2, 120, 1, 2, 3]));
    client.send(Buffer.concat([Buffer.from([2, 2, 8]), Buffer.alloc(101, 'k')]));
    client.send(Buffer.concat([Buffer.from([2, 2, 10]), Buffer.alloc(101, 'k')]));
    client.send(client.encode.connect(5, `tcp/localhost:${port}`));
    client.send(client.encode.connect(5, `tcp/localhost:${port}`));
    await stillServes();
    expect(records).toHaveLength(2);
  });
});

describe('a client under a hostile server', () => {
  it('refuses to dial anything', async () => {
    let accepted: (peer: RawPeer) => void = () => undefined;
    const accept = new Promise<RawPeer>((resolve) => (accepted = resolve));
    const transport = await startTransportServer((socket) => accepted(new RawPeer(socket)));
    const client = openTunnel(await transport.dial());
    const server = await accept;
    server.send(server.encode.connect(2, 'tcp/localhost:22'));
    expect(await server.errorOf(2)).toContain('connect not allowed');
    expect(client.state).toBe('open');
    await client.close();
    await transport.close();
  });

  it('never compresses and never accepts a compressed connection', async () => {
    const transport = await startTransportServer((socket) => socket.terminate());
    const socket = connect(transport.path);
    socket.write(
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n',
    );
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toContain('101 Switching');
    expect(head.toString().toLowerCase()).not.toContain('deflate');
    socket.destroy();
    await transport.close();
  });
});
