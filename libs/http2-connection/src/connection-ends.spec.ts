import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { EXCUSES } from './deadline.js';
import { FLAG, FRAME, frame, PREFACE, settingsFrame } from './frame.js';
import { serveHttp2Connection, type Http2Connection } from './serve-http2-connection.js';
import { FrameClient, FrameServer, grpcMessage } from './testing/index.js';

/** Time-outs in milliseconds: SHORT for those that must end a connection, LONG for those that must not. */
const SHORT = 30;
const LONG = 60_000;

/** Preface and empty SETTINGS; `ACKNOWLEDGED` also acknowledges the server's SETTINGS. */
const GREETING = Buffer.concat([PREFACE, settingsFrame([])]);
const ACKNOWLEDGED = Buffer.concat([GREETING, frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(0))]);

interface Way {
  readonly how: (client: FrameClient, connection: Http2Connection) => void;
}

/** Ways in which a connection ends while calls are open, each with the reason that the server reports. */
const WAYS: [string, string, Way][] = [
  ['the client closes', 'clientGone', { how: (c) => c.socket.end() }],
  ['the client vanishes', 'clientGone', { how: (c) => c.socket.destroy() }],
  [
    'the client vanishes with an answer unread, which resets the connection',
    'clientGone',
    { how: (c) => c.socket.pause().destroy() },
  ],
  [
    'the client says goodbye, and gives its call up',
    'closed',
    {
      how: (c) => {
        c.send(FRAME.goaway, 0, 0, Buffer.alloc(8));
        c.send(FRAME.rstStream, 0, 1, Buffer.alloc(4));
      },
    },
  ],
  [
    'garbage and gone',
    'clientGone',
    {
      how: (c) => c.socket.end(Buffer.alloc(5, 0xff)),
    },
  ],
  ['garbage', 'frameSize', { how: (c) => c.socket.write(Buffer.alloc(12, 0xff)) }],
  ['half a frame, and gone', 'clientGone', { how: (c) => c.socket.end(Buffer.from([0, 0, 9, 0])) }],
  ['a frame that is illegal', 'frameOnIdleStream', { how: (c) => c.send(FRAME.data, 0, 99) }],
  ['we close', 'closed', { how: (_, connection) => void connection.close() }],
  [
    'we close, with a grace',
    'closed',
    { how: (_, connection) => void connection.close({ graceMs: 10 }) },
  ],
];

describe('the end of a connection', () => {
  let server: FrameServer;
  let client: FrameClient;
  afterEach(async () => {
    client[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  async function open(limits: object): Promise<void> {
    const onStream = (): void => undefined;
    server = await FrameServer.listen({ limits: { lingerMs: 50, ...limits }, onStream });
    client = await FrameClient.connect(server.address);
  }

  it.each(WAYS)(
    'frees its slot, its streams and all that it holds when %s: %s (A42)',
    async (_what, reason, { how }) => {
      await open({});
      await client.greet();
      client.headers(1);
      client.headers(3);
      client.send(FRAME.data, 0, 1, grpcMessage('unfinished').subarray(0, 8));
      await server.until(() => server.streams.length === 2 && server.inbound.held > 0);
      server.streams[1]?.respond({ ':status': 200 });
      server.streams[1]?.write(Buffer.alloc(200_000));
      const closed = server.streams.map(
        (stream) => new Promise((resolve) => stream.once('close', resolve)),
      );
      how(client, server.connections[0] as Http2Connection);
      await Promise.all(closed.slice(0, 1));
      if (reason === 'closed') client.send(FRAME.rstStream, 0, 3, Buffer.alloc(4));
      await Promise.all(closed);
      await server.until(() => server.slots === 0);
      expect(server.reasons).toEqual([reason]);
      expect(server.streams.map(({ destroyed, aborted }) => ({ destroyed, aborted }))).toEqual(
        Array(2).fill({ destroyed: true, aborted: true }),
      );
      expect([server.inbound.held, server.outbound.held]).toEqual([0, 0]);
    },
  );

  it.each<[string, string, object, (client: FrameClient) => void]>([
    ['it says nothing', 'handshakeTimeout', { handshakeMs: SHORT }, () => undefined],
    [
      'it stops after its preface',
      'handshakeTimeout',
      { handshakeMs: SHORT },
      (c) => void c.socket.write(PREFACE),
    ],
    [
      'it never acknowledges our settings',
      'settingsTimeout',
      { settingsAckMs: SHORT },
      (c) => void c.socket.write(GREETING),
    ],
    [
      'it answers no ping',
      'pingTimeout',
      { pingIntervalMs: 1, pingTimeoutMs: 1 },
      (c) => void c.socket.write(GREETING),
    ],
    ['it makes no call', 'idle', { idleMs: SHORT }, (c) => void c.socket.write(ACKNOWLEDGED)],
  ])('comes when %s: %s', async (_what, reason, limits, how) => {
    await open(limits);
    how(client);
    await server.until(() => server.slots === 0 && server.reasons.length > 0);
    expect(server.reasons).toEqual([reason]);
  });

  it('lets the last answer out to a slow reader within the grace', async () => {
    const body = Buffer.alloc(60_000);
    server = await FrameServer.listen({
      limits: { lingerMs: 1 },
      onStream: (stream) => {
        stream.respond({ ':status': 200 }, { waitForTrailers: true });
        stream.once('wantTrailers', () => stream.sendTrailers({}));
        stream.end(body);
      },
    });
    client = await FrameClient.connect(server.address);
    await client.greet();
    client.headers(1, FLAG.endHeaders | FLAG.endStream);
    client.socket.pause();
    await server.until(() => server.streams[0]?.closed === true);
    void server.connections[0]?.close({ graceMs: LONG });
    await new Promise((resolve) => setImmediate(resolve));
    client.socket.resume();
    await client.closed;
    expect(client.body(1)).toEqual(body);
    await server.until(() => server.slots === 0);
  });

  it.each<[string, (client: FrameClient) => void]>([
    ['says goodbye', (c) => c.send(FRAME.goaway, 0, 0, Buffer.alloc(8))],
    ['ends its side', (c) => c.socket.end()],
  ])('lets the last answer out to a slow reader that %s meanwhile', async (_what, leave) => {
    const body = Buffer.alloc(20_000);
    server = await FrameServer.listen({
      limits: { lingerMs: LONG },
      onStream: (stream) => {
        stream.respond({ ':status': 200 }, { waitForTrailers: true });
        stream.once('wantTrailers', () => stream.sendTrailers({}));
        stream.end(body);
      },
    });
    client = await FrameClient.connect(server.address);
    await client.greet();
    client.socket.pause();
    client.send(FRAME.windowUpdate, 0, 0, Buffer.from([0, 16, 0, 0]));
    let id = -1;
    // Until the system takes no more, so that an answer waits in the socket.
    while (server.outbound.held === 0) {
      client.headers((id += 2), FLAG.endHeaders | FLAG.endStream);
      await server.until(
        () => server.streams.at(-1)?.id === id && server.streams.at(-1)?.closed === true,
      );
    }
    leave(client);
    await server.until(() => server.reasons.length > 0);
    client.socket.resume();
    await client.closed;
    expect(server.reasons).toEqual(['clientGone']);
    expect(client.body(id)).toEqual(body);
  });

  it('does not come while its pings are answered', async () => {
    await open({ pingIntervalMs: 1, pingTimeoutMs: LONG });
    await client.greet();
    for (let pings = 1; pings <= 5; pings++) {
      const isPing = (): boolean =>
        client.frames.filter(({ type }) => type === FRAME.ping).length >= pings;
      await client.received(isPing);
      client.send(FRAME.ping, 1, 0, Buffer.alloc(8));
    }
    expect(server.reasons).toEqual([]);
  });

  it('is not caused by a request that never ends: only its call fails', async () => {
    await open({ requestMs: 20 });
    await client.greet();
    client.headers(1);
    client.send(FRAME.data, 0, 1, grpcMessage('unfinished').subarray(0, 8));
    const answer = await client.received(({ streamId }) => streamId === 1);
    expect(client.decode(answer)).toMatchObject({ 'grpc-status': '4' });
    await client.ping('alive');
    expect(server.inbound.held).toBe(0);
  });

  it('has patience with a stream of requests between its messages, not within one', async () => {
    const onStream = (): void => undefined;
    server = await FrameServer.listen({
      limits: { requestMs: 20 },
      hasOneRequest: () => false,
      onStream,
    });
    client = await FrameClient.connect(server.address);
    await client.greet();
    client.headers(1);
    client.send(FRAME.data, 0, 1, grpcMessage('whole'));
    client.headers(3);
    client.send(FRAME.data, 0, 3, grpcMessage('unfinished').subarray(0, 8));
    await client.received(({ streamId }) => streamId === 3);
    expect(server.streams.map(({ destroyed }) => destroyed)).toEqual([false, true]);
  });

  it('is that of one connection alone when who takes a call throws', async () => {
    const onStream = (): never => {
      throw new Error('mistake');
    };
    server = await FrameServer.listen({ onStream });
    using other = await FrameClient.connect(server.address);
    await other.greet();
    client = await FrameClient.connect(server.address);
    await client.greet();
    client.headers(1);
    client.send(FRAME.data, 0, 1, grpcMessage('whole'));
    await client.closed;
    expect(server.failures).toEqual([new Error('mistake')]);
    expect(server.reasons).toEqual(['failed']);
    await other.ping('alive');
  });
});

it('begins its deadlines anew while input waits that nobody reads, but not for ever', async () => {
  // A `readable` listener keeps the stream from flowing, so the input stays unread.
  const socket = new Duplex({ read: () => undefined, write: (_octets, _encoding, done) => done() });
  const since = performance.now();
  const reason = await new Promise((onEnd) => {
    serveHttp2Connection(socket, {
      onEnd,
      onStream: () => undefined,
      limits: { handshakeMs: SHORT },
      peer: { remoteAddress: 'pipe', remotePort: 1 },
    });
    socket.on('readable', () => undefined).push(PREFACE);
  });
  expect(reason).toBe('handshakeTimeout');
  expect(performance.now() - since).toBeGreaterThan((EXCUSES - 1) * SHORT);
});

it('is over at once for a socket that has closed before', async () => {
  const socket = new Duplex({ read: () => undefined });
  socket.destroy();
  await once(socket, 'close');
  const reasons: string[] = [];
  await using connection = serveHttp2Connection(socket, {
    onEnd: (reason) => reasons.push(reason),
    onStream: () => undefined,
    peer: { remoteAddress: 'pipe', remotePort: 1 },
  });
  await connection.closed;
  expect(reasons).toEqual(['clientGone']);
});
