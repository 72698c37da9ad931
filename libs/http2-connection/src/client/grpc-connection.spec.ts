import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { duplexPair, type Duplex } from 'node:stream';
import { HpackEncoder } from '../hpack/hpack-encoder.js';
import type { HeaderField } from '../hpack/static-table.js';
import {
  FLAG,
  FRAME,
  frame,
  frameOfNumbers,
  FrameServer,
  grpcMessage,
  SETTING,
  settingsFrame,
} from '../testing/index.js';
import {
  openGrpcConnection,
  type GrpcConnection,
  type GrpcConnectionOptions,
} from './open-grpc-connection.js';
import type { GrpcOutcome } from './grpc-call.js';

const PATH = '/x.Y/Unary';
const OK: HeaderField[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
];
const END: HeaderField[] = [['grpc-status', '0']];
const HEADERS_END = FLAG.endHeaders | FLAG.endStream;

/** Makes a call; resolves with how it ended. */
function ask(
  connection: GrpcConnection,
  message: Buffer = Buffer.from('ask'),
  isRepeatable = false,
): Promise<GrpcOutcome> {
  const request = { path: PATH, message, isRepeatable };
  return new Promise((resolve) => void connection.call(request, resolve));
}

/** The HTTP/2 server of Node. */
class NodeServer implements AsyncDisposable {
  readonly #server: Http2Server;

  private constructor(server: Http2Server) {
    this.#server = server;
  }

  static async listen(onStream: (stream: ServerHttp2Stream) => void): Promise<NodeServer> {
    const server = createServer();
    server.on('stream', (stream) => onStream(stream.on('error', () => undefined)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new NodeServer(server);
  }

  connect(): Socket {
    return connect((this.#server.address() as AddressInfo).port, '127.0.0.1');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    await Promise.resolve();
  }
}

/** A server that says in frames whatever it is made to say. */
class Speaker implements AsyncDisposable {
  readonly connection: GrpcConnection;
  readonly #encoder = new HpackEncoder();
  readonly #far: Duplex;
  /** How many writes have come. */
  writes = 0;
  #received = Buffer.alloc(0);

  constructor(options: GrpcConnectionOptions = {}) {
    const [near, far] = duplexPair();
    this.#far = far.on('error', () => undefined);
    far.on('data', (chunk: Buffer) => {
      this.writes += 1;
      this.#received = Buffer.concat([this.#received, chunk]);
    });
    this.connection = openGrpcConnection(near, options);
  }

  greet(...settings: (readonly [number, number])[]): this {
    return this.write(settingsFrame(settings));
  }

  write(...octets: Buffer[]): this {
    this.#far.write(Buffer.concat(octets));
    return this;
  }

  headers(fields: HeaderField[], flags: number = FLAG.endHeaders, id = 1): this {
    return this.write(frame(FRAME.headers, flags, id, this.#encoder.encode(fields)));
  }

  data(octets: Buffer, flags = 0, id = 1): this {
    return this.write(frame(FRAME.data, flags, id, octets));
  }

  hangUp(): this {
    this.#far.end();
    return this;
  }

  /** The frames that have come, once there is such a one. */
  async until(wanted: (type: number, flags: number, payload: Buffer) => boolean): Promise<Buffer> {
    for (;;) {
      const found = this.#frames().find(([type, flags, payload]) => wanted(type, flags, payload));
      if (found !== undefined) return found[2];
      await new Promise(setImmediate);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The goodbye is read: the connection would wait for that otherwise.
    await this.connection.close();
    this.#far.destroy();
  }

  #frames(): [number, number, Buffer][] {
    const frames: [number, number, Buffer][] = [];
    for (let at = 24; at + 9 <= this.#received.length;) {
      const end = at + 9 + this.#received.readUIntBE(at, 3);
      if (end > this.#received.length) break;
      frames.push([
        this.#received[at + 3] as number,
        this.#received[at + 4] as number,
        this.#received.subarray(at + 9, end),
      ]);
      at = end;
    }
    return frames;
  }
}

describe('a call', () => {
  it('is answered by the server of Node, also with messages that are larger than all windows', async () => {
    await using server = await NodeServer.listen((stream) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        stream.respond({ 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.concat(chunks));
      });
    });
    await using connection = openGrpcConnection(server.connect());
    expect(await connection.ready).toBeUndefined();
    const isEchoed = async (message: Buffer): Promise<boolean> => {
      const outcome = await ask(connection, message);
      return outcome.kind === 'answered' && outcome.message.equals(message);
    };
    for (const message of [Buffer.from('ask'), Buffer.alloc(0), Buffer.alloc(2 ** 21, 7)])
      expect(await isEchoed(message)).toBe(true);
    const many = Array.from({ length: 20 }, (_, at) => Buffer.alloc(70_000, at));
    expect(await Promise.all(many.map(isEchoed))).toEqual(many.map(() => true));
  });

  it('is answered by the other half of this library, and sends its headers', async () => {
    await using server = await FrameServer.listen({
      onStream: (stream) => {
        stream.on('data', (message: Buffer) => {
          stream.respond(
            { ':status': 200, 'content-type': 'application/grpc' },
            { waitForTrailers: true },
          );
          stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }));
          stream.end(message);
        });
      },
    });
    await using connection = openGrpcConnection(connect(server.address));
    const message = Buffer.from('a');
    const headers = { 'x-mine': 'é\n', 'x-long': 'y'.repeat(9000) };
    const outcome = await new Promise((done) =>
      connection.call({ path: PATH, headers, message }, done),
    );
    expect(outcome).toEqual({ kind: 'answered', message });
    expect(server.requests[0]).toMatchObject({ ':path': PATH, 'x-mine': '??', te: 'trailers' });
  });

  it('waits until the server has spoken, and for what its windows allow', async () => {
    await using speaker = new Speaker();
    const outcome = ask(speaker.connection, Buffer.alloc(30, 1));
    await new Promise(setImmediate);
    expect(speaker.connection.isReady).toBe(false);
    speaker.greet([SETTING.initialWindowSize, 10]);
    expect(await speaker.until((type) => type === FRAME.data)).toHaveLength(10);
    speaker.write(frameOfNumbers(FRAME.windowUpdate, 1, 100));
    expect(
      await speaker.until((type, _flags, { length }) => type === FRAME.data && length === 25),
    ).toHaveLength(25);
    await speaker.until((type, flags) => type === FRAME.data && flags === FLAG.endStream);
    speaker.headers(OK).data(grpcMessage('b')).headers(END, HEADERS_END);
    expect(await outcome).toEqual({ kind: 'answered', message: Buffer.from('b') });
  });

  it('goes out before the server has spoken if it may be made twice, with the first words in one write', async () => {
    await using speaker = new Speaker();
    const outcome = ask(speaker.connection, Buffer.from('ask'), true);
    await speaker.until((type, flags) => type === FRAME.data && flags === FLAG.endStream);
    expect(speaker.writes).toBe(1);
    expect(speaker.connection.isReady).toBe(false);
    speaker.greet().headers(OK).data(grpcMessage('b')).headers(END, HEADERS_END);
    expect(await outcome).toEqual({ kind: 'answered', message: Buffer.from('b') });
  });

  it('of which more is waiting than a server allows that has not spoken goes on once that has', async () => {
    await using speaker = new Speaker();
    const outcome = ask(speaker.connection, Buffer.alloc(70_000, 1), true);
    // The last frame of what the default window allows.
    await speaker.until(
      (type, _flags, { length }) => type === FRAME.data && length === 65_535 % 16_384,
    );
    speaker.greet([SETTING.initialWindowSize, 100_000]);
    speaker.write(frameOfNumbers(FRAME.windowUpdate, 0, 100_000));
    await speaker.until((type, flags) => type === FRAME.data && flags === FLAG.endStream);
    speaker.headers(OK).data(grpcMessage('b')).headers(END, HEADERS_END);
    expect(await outcome).toMatchObject({ kind: 'answered' });
  });

  it('that has gone out is not taken when the server leaves before it has spoken', async () => {
    await using speaker = new Speaker();
    const outcome = ask(speaker.connection, Buffer.from('ask'), true);
    await speaker.until((type) => type === FRAME.headers);
    speaker.hangUp();
    expect(await outcome).toEqual({ kind: 'notTaken', reason: 'serverGone' });
  });

  it('that has gone out is reset when it is cancelled before the server has spoken', async () => {
    await using speaker = new Speaker();
    const outcome = new Promise((resolve) => {
      const request = { path: PATH, message: Buffer.alloc(0), isRepeatable: true };
      speaker.connection.call(request, resolve)();
    });
    expect(await outcome).toEqual({ kind: 'lost', reason: 'cancelled' });
    expect((await speaker.until((type) => type === FRAME.rstStream)).readUInt32BE()).toBe(8);
  });

  it('is reset when it is cancelled, and what still comes of it does no harm', async () => {
    await using speaker = new Speaker().greet();
    await speaker.connection.ready;
    const outcome = new Promise((resolve) => {
      const cancel = speaker.connection.call({ path: PATH, message: Buffer.alloc(0) }, resolve);
      cancel();
      cancel();
    });
    expect(await outcome).toEqual({ kind: 'lost', reason: 'cancelled' });
    expect((await speaker.until((type) => type === FRAME.rstStream)).readUInt32BE()).toBe(8);
    speaker.headers(OK).data(grpcMessage('late')).headers(END, HEADERS_END);
    const next = ask(speaker.connection);
    speaker
      .headers(OK, FLAG.endHeaders, 3)
      .data(grpcMessage('b'), 0, 3)
      .headers(END, HEADERS_END, 3);
    expect(await next).toMatchObject({ kind: 'answered' });
  });

  it('is answered in pieces of one octet, with padding, pings and informational headers between', async () => {
    await using speaker = new Speaker().greet();
    const outcome = ask(speaker.connection);
    const encoder = new HpackEncoder();
    const block = encoder.encode(OK);
    const octets = Buffer.concat([
      frame(
        FRAME.headers,
        FLAG.endHeaders,
        1,
        Buffer.concat([Buffer.of(0x08, 3), Buffer.from('103')]),
      ),
      frame(FRAME.headers, 0, 1, block.subarray(0, 4)),
      frame(FRAME.continuation, FLAG.endHeaders, 1, block.subarray(4)),
      frame(FRAME.ping, 0, 0, Buffer.from('12345678')),
      frame(
        FRAME.data,
        FLAG.padded,
        1,
        Buffer.concat([Buffer.of(3), grpcMessage('b'), Buffer.alloc(3)]),
      ),
      frame(99, 255, 7, Buffer.from('unknown')),
      frame(FRAME.headers, HEADERS_END, 1, encoder.encode(END)),
    ]);
    for (const octet of octets) speaker.write(Buffer.of(octet));
    expect(await outcome).toEqual({ kind: 'answered', message: Buffer.from('b') });
    const pong = await speaker.until((type, flags) => type === FRAME.ping && flags === FLAG.ack);
    expect(pong.toString()).toBe('12345678');
  });
});

describe('an answer', () => {
  const html: HeaderField[] = [
    [':status', '502'],
    ['content-type', 'text/html'],
  ];
  it.each<[string, object, (speaker: Speaker) => void]>([
    [
      'of headers alone',
      { status: 7, details: 'no rule: %zz ä' },
      (s) =>
        s.headers(
          [...OK, ['grpc-status', '7'], ['grpc-message', 'no rule: %zz %C3%a4']],
          HEADERS_END,
        ),
    ],
    [
      'with a status that is none',
      { status: 2 },
      (s) => s.headers([...OK, ['grpc-status', '-1']], HEADERS_END),
    ],
    [
      'without a status',
      { status: 2 },
      (s) =>
        s
          .headers(OK)
          .data(grpcMessage('b'))
          .headers([['x', 'y']], HEADERS_END),
    ],
    [
      'that ends without trailers',
      { status: 2 },
      (s) => s.headers(OK).data(grpcMessage('b'), FLAG.endStream),
    ],
    [
      'of HTTP status 502',
      { status: 14, details: 'found HTTP status 502; wanted 200' },
      (s) => s.headers(html).data(Buffer.from('<html>')),
    ],
    [
      'of HTTP status 404 with no more',
      { status: 12 },
      (s) => s.headers([[':status', '404']], HEADERS_END),
    ],
    [
      'without an HTTP status',
      { status: 2, details: 'found HTTP status none; wanted 200' },
      (s) => s.headers([['x', 'y']]),
    ],
    [
      'of another content-type',
      { status: 2, details: 'found another content-type; wanted application/grpc' },
      (s) =>
        s.headers([
          [':status', '200'],
          ['content-type', 'application/grpc-web'],
        ]),
    ],
    [
      'of half a message',
      { status: 13, details: 'found half a message; wanted one' },
      (s) => s.headers(OK).data(grpcMessage('bbb').subarray(0, 6)).headers(END, HEADERS_END),
    ],
    [
      'of no message',
      { status: 13, details: 'found no message; wanted one' },
      (s) => s.headers([...OK, ...END], HEADERS_END),
    ],
    [
      'of two messages',
      { status: 12 },
      (s) => s.headers(OK).data(Buffer.concat([grpcMessage('b'), grpcMessage('b')])),
    ],
    ['that is too large', { status: 8 }, (s) => s.headers(OK).data(Buffer.of(0, 0, 0, 0, 101))],
    ['that is compressed', { status: 12 }, (s) => s.headers(OK).data(Buffer.of(1, 0, 0, 0, 1, 0))],
    ['with headers in its middle', { status: 13 }, (s) => s.headers(OK).headers(OK)],
    [
      'that is reset',
      { status: 13 },
      (s) => s.headers(OK).write(frameOfNumbers(FRAME.rstStream, 1, 2)),
    ],
    ['that is cancelled', { status: 1 }, (s) => s.write(frameOfNumbers(FRAME.rstStream, 1, 8))],
    [
      'of a server that is calmed',
      { status: 8 },
      (s) => s.write(frameOfNumbers(FRAME.rstStream, 1, 11)),
    ],
  ])('%s fails the call, and no other', async (_what, expected, answer) => {
    await using speaker = new Speaker({ messageOctets: 100 }).greet();
    const outcome = ask(speaker.connection);
    answer(speaker);
    expect(await outcome).toMatchObject({ kind: 'failed', ...expected });
    const next = ask(speaker.connection);
    speaker
      .headers(OK, FLAG.endHeaders, 3)
      .data(grpcMessage('b'), 0, 3)
      .headers(END, HEADERS_END, 3);
    expect(await next).toEqual({ kind: 'answered', message: Buffer.from('b') });
  });
});

describe('a connection', () => {
  it.each<[string, string, (speaker: Speaker) => void]>([
    ['DATA before headers', 'badFrame', (s) => s.data(grpcMessage('b'))],
    ['a stream that nobody opened', 'frameOnIdleStream', (s) => s.headers(OK, FLAG.endHeaders, 3)],
    ['a stream of the server', 'badStreamId', (s) => s.headers(OK, FLAG.endHeaders, 2)],
    ['a promise', 'pushPromise', (s) => s.write(frame(FRAME.pushPromise, 4, 1, Buffer.alloc(4)))],
    ['a setting that allows promises', 'badSetting', (s) => s.greet([SETTING.enablePush, 1])],
    ['frames that are too small', 'badSetting', (s) => s.greet([SETTING.maxFrameSize, 1])],
    [
      'a window that is too large',
      'windowExceeded',
      (s) => s.write(frameOfNumbers(FRAME.windowUpdate, 1, 0x7fffffff)),
    ],
    [
      'a window that grows by nothing',
      'badFrame',
      (s) => s.write(frameOfNumbers(FRAME.windowUpdate, 0, 0)),
    ],
    ['a frame that is too large', 'frameSize', (s) => s.data(Buffer.alloc(16_385))],
    ['a frame within headers', 'badFrame', (s) => s.headers(OK, 0).data(Buffer.alloc(0))],
    [
      'a header block that is none',
      'badHeaderBlock',
      (s) => s.write(frame(FRAME.headers, 4, 1, Buffer.alloc(6, 255))),
    ],
    [
      'headers without end',
      'headersTooLarge',
      (s) => {
        s.headers(OK, 0);
        for (let at = 0; at < 9; at += 1)
          s.write(frame(FRAME.continuation, 0, 1, Buffer.alloc(9000)));
      },
    ],
    [
      'pings without end',
      'tooManyIgnoredFrames',
      (s) => {
        for (let at = 0; at < 3000; at += 1) s.write(frame(FRAME.ping, 1, 0, Buffer.alloc(8)));
      },
    ],
    [
      'empty frames without end',
      'tooManyFramesPerMessage',
      (s) => {
        s.headers(OK);
        for (let at = 0; at < 100; at += 1) s.data(Buffer.alloc(0));
      },
    ],
    ['the end of the socket', 'serverGone', (s) => s.hangUp()],
  ])('ends over %s, and its calls with it', async (_what, reason, spoil) => {
    await using speaker = new Speaker().greet();
    await speaker.connection.ready;
    const outcome = ask(speaker.connection);
    await speaker.until((type, flags) => type === FRAME.data && flags === FLAG.endStream);
    spoil(speaker);
    expect(await outcome).toEqual({ kind: 'lost', reason });
    await speaker.connection.closed;
    expect(speaker.connection.isOpen).toBe(false);
    expect(await ask(speaker.connection)).toEqual({ kind: 'notTaken', reason });
  });

  it.each<[string, string, (speaker: Speaker) => void]>([
    ['HTTP/1.1', 'notHttp2', (s) => s.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'))],
    ['another frame first', 'notHttp2', (s) => s.write(frame(FRAME.ping, 0, 0, Buffer.alloc(8)))],
    ['nothing', 'serverGone', (s) => s.hangUp()],
  ])('to a server that says %s takes no call', async (_what, reason, spoil) => {
    await using speaker = new Speaker();
    const outcome = ask(speaker.connection);
    spoil(speaker);
    expect(await outcome).toEqual({ kind: 'notTaken', reason });
    expect(await speaker.connection.ready).toBe(reason);
  });

  it('lets calls end that the server has taken when it says goodbye, and no others', async () => {
    await using speaker = new Speaker().greet();
    const outcomes = [ask(speaker.connection), ask(speaker.connection)];
    speaker.write(frame(FRAME.goaway, 0, 0, Buffer.of(0, 0, 0, 1, 0, 0, 0, 0)));
    expect(await outcomes[1]).toEqual({ kind: 'notTaken', reason: 'goaway' });
    expect(speaker.connection.isOpen).toBe(false);
    speaker.headers(OK).data(grpcMessage('b')).headers(END, HEADERS_END);
    expect(await outcomes[0]).toMatchObject({ kind: 'answered' });
    await speaker.connection.closed;
  });

  it('does not take a call that the server refuses', async () => {
    await using speaker = new Speaker().greet();
    const outcome = ask(speaker.connection);
    speaker.write(frameOfNumbers(FRAME.rstStream, 1, 7));
    expect(await outcome).toEqual({ kind: 'notTaken', reason: 'refused' });
  });

  it('cancels its calls when it is closed, says goodbye, and may be closed again', async () => {
    const begun: ServerHttp2Stream[] = [];
    await using server = await NodeServer.listen((stream) => void begun.push(stream));
    const socket = server.connect();
    const connection = openGrpcConnection(socket);
    const outcome = ask(connection);
    while (begun.length === 0) await new Promise(setImmediate);
    const streamClosed = once(begun[0] as ServerHttp2Stream, 'close');
    await Promise.all([connection.close(), connection.close()]);
    expect(await outcome).toEqual({ kind: 'lost', reason: 'closed' });
    await streamClosed;
    expect(begun[0]?.rstCode).toBe(8);
    expect(socket.destroyed).toBe(true);
  });

  it('says all that it owes before goodbye when it is closed in the tick of a call', async () => {
    await using speaker = new Speaker();
    const outcome = ask(speaker.connection, Buffer.from('ask'), true);
    const closed = speaker.connection.close();
    expect(await speaker.until((type) => type === FRAME.goaway)).toHaveLength(8);
    await speaker.until((type) => type === FRAME.settings);
    expect(await outcome).toEqual({ kind: 'notTaken', reason: 'closed' });
    await closed;
  });

  it('is closed without a goodbye when there is no call that one could be about', async () => {
    await using server = await NodeServer.listen((stream) => {
      stream.respond({ ...Object.fromEntries(OK), ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(grpcMessage('b'));
    });
    const socket = server.connect();
    const connection = openGrpcConnection(socket);
    expect(await ask(connection)).toMatchObject({ kind: 'answered' });
    const closed = connection.close();
    expect(socket.destroyed).toBe(true);
    await closed;
  });
});
