import { openPair, startTransportServer, type TunnelPair } from './testing/tunnel-pair.js';
import { openUdp, startUdpEcho, type UdpClient, type UdpEcho } from './testing/udp-echo.js';
import { RawPeer } from './testing/raw-peer.js';
import { startTcpServer, until, type TcpServer } from './testing/tcp-server.js';
import { openTunnel, type ClientTunnel } from './client-tunnel.js';
import { serveTunnel, type ConnectRecord, type ServeTunnelOptions } from './serve-tunnel.js';
import { TunnelError } from './tunnel-error.js';
import { listenUdp, type UdpListener } from './udp/listen-udp.js';
import { PROTOCOL_LIMITS } from './wire/limits.js';

describe('datagrams through a tunnel', () => {
  let echo: UdpEcho;
  let pair: TunnelPair;
  let listener: UdpListener;
  let client: UdpClient;
  const records: ConnectRecord[] = [];
  const refused: unknown[] = [];

  async function open(more: Partial<ServeTunnelOptions> = {}): Promise<void> {
    pair = await openPair({
      allowedPorts: [],
      allowedUdpPorts: [echo.port],
      onConnect: (record) => records.push(record),
      ...more,
    });
    await pair.client.probe();
    listener = await publish(pair.client, echo.port);
  }
  const publish = (tunnel: ClientTunnel, port: number) =>
    listenUdp({
      host: '127.0.0.1',
      port: 0,
      open: (events) => tunnel.openFlow(port, events),
      onRefused: (error) => refused.push(error),
    });

  beforeEach(async () => {
    records.length = 0;
    refused.length = 0;
    echo = await startUdpEcho();
    client = await openUdp();
  });
  afterEach(async () => {
    client.socket.close();
    await listener.close();
    await pair.close();
    await echo.close();
  });

  it('come back to their source, of any length up to the longest', async () => {
    await open();
    for (const bytes of [0, 1, 512, 9_000, PROTOCOL_LIMITS.datagramBytes]) {
      const datagram = Buffer.alloc(bytes, 'd');
      expect((await client.ask(listener.port, datagram)).equals(datagram)).toBe(true);
    }
    expect([pair.client.flowCount, pair.server.flowCount]).toEqual([1, 1]);
    expect(records).toMatchObject([{ allowed: true, address: `udp/localhost:${echo.port}` }]);
    const moved = 1 + 512 + 9_000 + PROTOCOL_LIMITS.datagramBytes;
    const traffic = { receivedBytes: moved, sentBytes: moved, droppedDatagrams: 0 };
    expect(pair.server.traffic).toMatchObject(traffic);
  });

  it('are refused to a port that is allowed for TCP alone, with the rule', async () => {
    await open({ allowedPorts: [echo.port], allowedUdpPorts: [] });
    client.socket.send('x', listener.port, '127.0.0.1');
    await until(() => refused.length > 0);
    expect(refused).toMatchObject([{ code: 'connectRefused', rule: 'port-not-listed' }]);
    expect(records).toMatchObject([{ allowed: false, rule: 'port-not-listed', port: echo.port }]);
    expect(echo.sources.size).toBe(0);
    await until(() => pair.client.flowCount === 0);
  });

  it('stop when their port is allowed no more, and nothing else does', async () => {
    const tcp: TcpServer = await startTcpServer((socket) => socket.pipe(socket));
    await open({ allowedPorts: [tcp.port] });
    await client.ask(listener.port, Buffer.from('x'));
    const stream = pair.client.connect(tcp.port);
    pair.server.allowPorts([tcp.port]);
    await until(() => pair.client.flowCount === 0);
    expect(pair.server.flowCount).toBe(0);
    stream.end('still');
    const chunks = (await stream.toArray()) as Buffer[];
    expect(Buffer.concat(chunks).toString()).toBe('still');
    await tcp.close();
  });

  it('give back what their flow took, whoever ends it', async () => {
    let taken = 0;
    await open({
      takeStream: () => {
        taken += 1;
        return () => (taken -= 1);
      },
    });
    await client.ask(listener.port, Buffer.from('x'));
    expect(taken).toBe(1);
    await listener.close();
    await until(() => taken === 0);
    listener = await publish(pair.client, echo.port);
    await client.ask(listener.port, Buffer.from('x'));
    expect(taken).toBe(1);
    await pair.server.close();
    expect(taken).toBe(0);
  });

  it('are refused beyond the share of their client', async () => {
    await open({ takeStream: () => undefined });
    client.socket.send('x', listener.port, '127.0.0.1');
    await until(() => refused.length > 0);
    expect(refused).toMatchObject([{ code: 'connectRefused', rule: 'stream-limit' }]);
  });

  it('that nobody reads are dropped at the host, and a stream beside them continues', async () => {
    const tcp: TcpServer = await startTcpServer((socket) => socket.pipe(socket));
    await open({ allowedPorts: [tcp.port] });
    const flow = pair.client.openFlow(echo.port, { onDatagram: () => undefined, onEnd: () => 0 });
    // All in one turn of the event loop, so nothing can be sent in between.
    for (let n = 0; n < 1_000; n += 1) flow.send(Buffer.alloc(60_000));
    expect(pair.client.traffic.droppedDatagrams).toBeGreaterThan(900);
    const stream = pair.client.connect(tcp.port);
    stream.end('beside');
    const chunks = (await stream.toArray()) as Buffer[];
    expect(Buffer.concat(chunks).toString()).toBe('beside');
    await tcp.close();
  });

  it('are dropped beyond the limit of the queue, even if they are empty', async () => {
    await open();
    const flow = pair.client.openFlow(echo.port, { onDatagram: () => undefined, onEnd: () => 0 });
    // All in one turn of the event loop. The connection takes less than half of them.
    for (let n = 0; n < 300_000; n += 1) flow.send(Buffer.alloc(0));
    expect(pair.client.traffic.droppedDatagrams).toBeGreaterThan(150_000);
  });

  it('say that nothing listens at the port', async () => {
    await open();
    await echo.close();
    await until(() => {
      client.socket.send('x', listener.port, '127.0.0.1');
      return refused.length > 0;
    });
    expect(refused).toMatchObject([{ code: 'dialRefused' }]);
  });
});

describe('a peer that carries no datagrams', () => {
  it('is never asked to, and who wants it is told so', async () => {
    let peer: RawPeer | undefined;
    const transport = await startTransportServer((socket) => {
      peer = new RawPeer(socket);
      // Send the Hello of revision 1, which had no datagrams. A Go server sends no Hello.
      peer.onMessage = ({ type }) => {
        if (type === 'hello') peer?.send(Buffer.from('0200d20f02', 'hex'));
      };
    });
    const tunnel = openTunnel(await transport.dial());
    await until(() => tunnel.isPeerExtended);
    expect(tunnel.carriesDatagrams).toBe(false);
    const events = { onDatagram: () => undefined, onEnd: () => undefined };
    expect(() => tunnel.openFlow(53, events)).toThrow(
      new TunnelError('noDatagrams', 'the daemon is too old to carry UDP; upgrade it'),
    );
    await tunnel.probe();
    expect(peer?.received.map(({ type }) => type)).toEqual(['hello']);
    await tunnel.close();
    await transport.close();
  });

  it('gets no flow when it asks for one, because UDP is an unknown protocol there', async () => {
    const transport = await startTransportServer((socket) => {
      serveTunnel(socket, { allowedPorts: [53], allowedUdpPorts: [53] });
    });
    const peer = new RawPeer(await transport.dial());
    peer.send(peer.encode.connect(1, 'udp/localhost:53'));
    expect(await peer.errorOf(1)).toBe('connect not allowed: protocol-tcp');
    peer.socket.terminate();
    await transport.close();
  });
});
