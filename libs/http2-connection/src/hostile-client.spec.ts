import { FLAG, FRAME, frame, PREFACE, settingsFrame } from './frame.js';
import { echo, FrameClient, FrameServer, grpcMessage } from './testing/index.js';

const { endHeaders, endStream } = FLAG;
const CALL = endHeaders | endStream;
const numbers = (...values: number[]): Buffer => {
  const octets = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) octets.writeUInt32BE(value >>> 0, index * 4);
  return octets;
};

describe('a client that does what it may not', () => {
  let server: FrameServer;
  let client: FrameClient;

  beforeEach(async () => {
    server = await FrameServer.listen({ onStream: () => undefined });
    client = await FrameClient.connect(server.address);
  });
  afterEach(async () => {
    client[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  it.each<[string, string, (client: FrameClient) => void]>([
    ['DATA on a stream that nobody opened', 'frameOnIdleStream', (c) => c.send(FRAME.data, 0, 1)],
    ['RST_STREAM there', 'frameOnIdleStream', (c) => c.send(FRAME.rstStream, 0, 1, numbers(8))],
    [
      'WINDOW_UPDATE there',
      'frameOnIdleStream',
      (c) => c.send(FRAME.windowUpdate, 0, 1, numbers(1)),
    ],
    [
      'DATA after the end',
      'frameAfterEnd',
      (c) => {
        c.headers(1, CALL);
        c.send(FRAME.data, 0, 1);
      },
    ],
    [
      'HEADERS after the end',
      'frameAfterEnd',
      (c) => {
        c.headers(1, CALL);
        c.headers(1, CALL);
      },
    ],
    [
      'trailers twice',
      'frameAfterEnd',
      (c) => {
        c.headers(1);
        c.headers(1, CALL, Buffer.of(0x0f, 0x2d, 0));
        c.headers(1, CALL, Buffer.of(0x0f, 0x2d, 0));
      },
    ],
    [
      'DATA on a stream that it has reset',
      'frameAfterEnd',
      (c) => {
        c.headers(1);
        c.send(FRAME.rstStream, 0, 1, numbers(8));
        c.send(FRAME.data, 0, 1);
      },
    ],
    [
      'HEADERS on a stream that it has passed over',
      'frameAfterEnd',
      (c) => {
        c.headers(5, CALL);
        c.headers(3, CALL);
      },
    ],
    ['HEADERS on a stream of the server', 'badStreamId', (c) => c.headers(2)],
    ['HEADERS on the connection', 'badStreamId', (c) => c.headers(0)],
    ['DATA on the connection', 'badStreamId', (c) => c.send(FRAME.data, 0, 0)],
    ['a ping of a stream', 'badStreamId', (c) => c.send(FRAME.ping, 0, 1, Buffer.alloc(8))],
    ['a ping of seven octets', 'frameSize', (c) => c.send(FRAME.ping, 0, 0, Buffer.alloc(7))],
    ['a reset of three octets', 'frameSize', (c) => c.send(FRAME.rstStream, 0, 1, Buffer.alloc(3))],
    ['a setting that is cut', 'frameSize', (c) => c.send(FRAME.settings, 0, 0, Buffer.alloc(5))],
    [
      'settings that acknowledge and say something',
      'frameSize',
      (c) => c.send(FRAME.settings, 1, 0, Buffer.alloc(6)),
    ],
    [
      'a frame of more than 16 KiB',
      'frameSize',
      (c) => c.send(FRAME.data, 0, 1, Buffer.alloc(16_385)),
    ],
    ['a promise', 'pushPromise', (c) => c.send(FRAME.pushPromise, endHeaders, 1, Buffer.alloc(4))],
    ['CONTINUATION of nothing', 'badFrame', (c) => c.send(FRAME.continuation, endHeaders, 1)],
    [
      'a frame within a header block',
      'badFrame',
      (c) => {
        c.headers(1, 0);
        c.send(FRAME.ping, 0, 0, Buffer.alloc(8));
      },
    ],
    [
      'CONTINUATION of another stream',
      'badFrame',
      (c) => {
        c.headers(1, 0);
        c.send(FRAME.continuation, endHeaders, 3);
      },
    ],
    [
      'more padding than frame',
      'badFrame',
      (c) => c.headers(1, endHeaders | FLAG.padded, Buffer.of(5, 1)),
    ],
    [
      'a header block that is none',
      'badHeaderBlock',
      (c) => c.headers(1, CALL, Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff)),
    ],
    [
      'headers of more than 16 KiB',
      'headersTooLarge',
      (c) =>
        c.headers(
          1,
          CALL,
          c.block(
            '/x',
            Array.from({ length: 50 }, (_, n) => [`x-${n}`, 'y'.repeat(300)]),
          ),
        ),
    ],
    ['65 headers', 'headersTooLarge', (c) => c.headers(1, CALL, Buffer.alloc(65, 0x83))],
    [
      'a header block that never ends',
      'headersTooLarge',
      (c) => {
        c.headers(1, 0);
        for (let count = 0; count < 9; count++) c.send(FRAME.continuation, 0, 1);
      },
    ],
    ['a window update of nothing', 'badFrame', (c) => c.send(FRAME.windowUpdate, 0, 0, numbers(0))],
    [
      'a window of more than 2 GiB',
      'windowExceeded',
      (c) => c.send(FRAME.windowUpdate, 0, 0, numbers(0x7fffffff)),
    ],
    [
      'a stream window of more than 2 GiB',
      'windowExceeded',
      (c) => c.socket.write(settingsFrame([[4, 0x80000000]])),
    ],
    ['frames of no size', 'badSetting', (c) => c.socket.write(settingsFrame([[5, 0]]))],
  ])('is ended for %s: %s', async (_what, reason, misbehave) => {
    await client.greet();
    misbehave(client);
    expect(await client.goaway()).toBe(reason);
    expect(server.reasons).toEqual([reason]);
  });

  it.each<[string, string, (client: FrameClient) => void]>([
    ['pings', 'tooManyPings', (c) => c.send(FRAME.ping, 0, 0, Buffer.alloc(8))],
    ['answers to no ping', 'tooManyPings', (c) => c.send(FRAME.ping, 1, 0, Buffer.alloc(8))],
    ['settings', 'tooManySettings', (c) => c.send(FRAME.settings, 0, 0)],
    ['answers to no settings', 'tooManySettings', (c) => c.send(FRAME.settings, 1, 0)],
    ['window updates', 'tooManyWindowUpdates', (c) => c.send(FRAME.windowUpdate, 0, 0, numbers(1))],
    ['priorities', 'tooManyIgnoredFrames', (c) => c.send(FRAME.priority, 0, 3, Buffer.alloc(5))],
    ['frames of no known type', 'tooManyIgnoredFrames', (c) => c.send(0x77, 0, 0)],
  ])('is ended for a flood of %s: %s', async (_what, reason, one) => {
    await client.greet();
    for (let count = 0; count < 1200; count++) one(client);
    expect(await client.goaway()).toBe(reason);
  });

  it('is ended for streams that it resets as fast as it opens them', async () => {
    await client.greet();
    for (let id = 1; id < 2400; id += 2) {
      client.headers(id);
      client.send(FRAME.rstStream, 0, id, numbers(8));
    }
    expect(await client.goaway()).toBe('tooManyResets');
  });

  it.each<[string, (client: FrameClient, id: number) => void]>([
    ['trailers that end nothing', (c, id) => c.headers(id)],
    ['a window above 2 GiB', (c, id) => c.send(FRAME.windowUpdate, 0, id, numbers(0x7fffffff))],
    ['more than it announced', (c, id) => c.send(FRAME.data, 0, id, Buffer.alloc(6))],
  ])('is ended for streams that it makes the server reset by %s', async (_what, misbehave) => {
    await client.greet();
    const block = client.block('/x', [['content-length', '5']]);
    for (let id = 1; id < 2400; id += 2) {
      client.headers(id, endHeaders, block);
      misbehave(client, id);
    }
    expect(await client.goaway()).toBe('tooManyResets');
  });

  it('is ended for streams that it opens beyond all it may have', async () => {
    await client.greet();
    for (let id = 1; id < 4000; id += 2) client.headers(id);
    expect(await client.goaway()).toBe('tooManyIgnoredFrames');
    expect(server.streams).toHaveLength(256);
  });

  it('is ended for a message in frames of one octet, and for empty ones', async () => {
    for (const part of [Buffer.of(0), Buffer.alloc(0)]) {
      using other = await FrameClient.connect(server.address);
      await other.greet();
      other.headers(1);
      for (let count = 0; count < 100; count++) other.send(FRAME.data, 0, 1, part);
      // Five zero octets are a complete, empty message, so also send an incomplete one of 256 octets.
      if (part.length > 0) {
        other.send(FRAME.data, 0, 1, Buffer.of(0, 0, 0, 1, 0));
        for (let count = 0; count < 100; count++) other.send(FRAME.data, 0, 1, Buffer.of(1));
      }
      expect(await other.goaway()).toBe('tooManyFramesPerMessage');
    }
  });

  it('is ended for endless header blocks, whatever they contain', async () => {
    await client.greet();
    const large = client.block('/x', [['x', 'y'.repeat(12_000)]]);
    for (let id = 1; id < 400; id += 2) {
      client.headers(id, CALL, large);
      client.send(FRAME.rstStream, 0, id, numbers(8));
    }
    expect(await client.goaway()).toBe('tooManyHeaderOctets');
  });

  it.each<[string, string]>([
    ['no HTTP/2', 'GET / HTTP/1.1\r\n\r\n'],
    ['a preface that goes wrong at its end', `${PREFACE.toString().slice(0, -1)}x`],
  ])('is closed without a word for %s', async (_what, octets) => {
    client.socket.write(octets);
    await client.closed;
    expect(client.frames).toEqual([]);
    expect(server.reasons).toEqual(['notHttp2']);
  });

  it('is ended when its first frame is not SETTINGS', async () => {
    client.socket.write(Buffer.concat([PREFACE, frame(FRAME.ping, 0, 0, Buffer.alloc(8))]));
    expect(await client.goaway()).toBe('noSettings');
  });
});

describe('a client that loses one stream and no more', () => {
  let server: FrameServer;
  let client: FrameClient;

  beforeEach(async () => {
    server = await FrameServer.listen({
      onStream: (stream, headers) => {
        if (headers[':path'] === '/answered')
          stream.respond({ ':status': 415 }, { endStream: true });
        else if (headers[':path'] !== '/unread') echo(stream);
      },
    });
    client = await FrameClient.connect(server.address);
    await client.greet();
  });
  afterEach(async () => {
    expect(server.reasons).toEqual([]);
    client[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  /** Makes a call, which shows that the connection still works. */
  async function echoes(id: number): Promise<void> {
    client.headers(id);
    client.send(FRAME.data, endStream, id, grpcMessage('still here'));
    await client.received(
      ({ streamId, flags, type }) =>
        streamId === id && type === FRAME.headers && (flags & endStream) !== 0,
    );
    expect(client.body(id)).toEqual(grpcMessage('still here'));
  }

  it.each<[string, (client: FrameClient) => Buffer]>([
    ['a header of HTTP/1.1', (c) => c.block('/x', [['connection', 'close']])],
    ['a name in capitals', (c) => c.block('/x', [['X-A', 'b']])],
    ['an empty name', (c) => c.block('/x', [['', 'b']])],
    ['a control character in a value', (c) => c.block('/x', [['x', '\u001b[2J']])],
    ['a path twice', (c) => c.block('/x', [[':path', '/y']])],
    ['an unknown header of HTTP/2', (c) => c.block('/x', [[':x', 'y']])],
    ['no path', (c) => c.block('')],
    ['te that is not trailers', (c) => c.block('/x', [['te', 'gzip']])],
    ['a content-length that is no number', (c) => c.block('/x', [['content-length', '0x0']])],
    [
      'a content-length twice',
      (c) =>
        c.block('/x', [
          ['content-length', '0'],
          ['content-length', '0'],
        ]),
    ],
    ['a content-length above zero and no DATA', (c) => c.block('/x', [['content-length', '1']])],
  ])('for %s', async (_what, block) => {
    client.headers(1, CALL, block(client));
    expect(await client.reset(1)).toBe(1);
    await echoes(3);
  });

  it('for more headers on its stream that do not end it', async () => {
    client.headers(1);
    client.headers(1);
    expect(await client.reset(1)).toBe(1);
    await echoes(3);
  });

  it.each<[string, (client: FrameClient, message: Buffer) => void]>([
    [
      'more DATA than it announced, in one frame',
      (c, message) => c.send(FRAME.data, endStream, 1, Buffer.concat([message, message])),
    ],
    [
      'more of it in the second frame',
      (c, message) => {
        c.send(FRAME.data, 0, 1, message);
        c.send(FRAME.data, 0, 1, message);
      },
    ],
    [
      'less of it at the end',
      (c, message) => c.send(FRAME.data, endStream, 1, message.subarray(0, 5)),
    ],
    [
      'less of it at trailers',
      (c, message) => {
        c.send(FRAME.data, 0, 1, message.subarray(0, 5));
        c.headers(1, CALL, Buffer.of(0x0f, 0x2d, 0));
      },
    ],
  ])('for %s', async (_what, misbehave) => {
    const message = grpcMessage('a');
    client.headers(1, endHeaders, client.block('/x', [['content-length', `${message.length}`]]));
    misbehave(client, message);
    expect(await client.reset(1)).toBe(1);
    await echoes(3);
    expect(client.body(1)).toEqual(Buffer.alloc(0));
  });

  it('for more messages than its window, when nobody reads them', async () => {
    client.headers(1, endHeaders, client.block('/unread'));
    const data = Buffer.concat(Array.from({ length: 80 }, () => grpcMessage(Buffer.alloc(16_379))));
    for (let at = 0; at < data.length; at += 16_384) {
      client.send(FRAME.data, 0, 1, data.subarray(at, at + 16_384));
    }
    expect(await client.reset(1)).toBe(3);
    await echoes(3);
  });

  it('for a window of more than 2 GiB of that stream', async () => {
    client.headers(1);
    client.send(FRAME.windowUpdate, 0, 1, numbers(0x7fffffff));
    expect(await client.reset(1)).toBe(3);
    await echoes(3);
  });

  it('for a request that ends within a message, and is told', async () => {
    client.headers(1);
    client.send(FRAME.data, endStream, 1, grpcMessage('cut').subarray(0, 6));
    const answer = await client.received(({ streamId }) => streamId === 1);
    expect(client.decode(answer)).toMatchObject({ 'grpc-status': '13' });
    await echoes(3);
  });

  it('and what was under way to it then is dropped', async () => {
    client.headers(1);
    const large = grpcMessage(Buffer.alloc(3 * 1024 * 1024)).subarray(0, 16_384);
    for (let count = 0; count < 100; count++) client.send(FRAME.data, 0, 1, large);
    client.headers(1, CALL, Buffer.of(0x0f, 0x2d, 0));
    client.send(FRAME.windowUpdate, 0, 1, numbers(1));
    client.send(FRAME.rstStream, 0, 1, numbers(8));
    const answer = await client.received(
      ({ streamId, type }) => streamId === 1 && type === FRAME.headers,
    );
    expect(client.decode(answer)).toMatchObject({
      'grpc-status': '8',
      'grpc-message': encodeURI('cannot accept a message of 3145728 bytes; the maximum is 1048576'),
    });
    expect(await client.reset(1)).toBe(0);
    await echoes(3);
  });

  it('not even that for a content-length that DATA keeps, padding not counted', async () => {
    const message = grpcMessage('still here');
    client.headers(1, endHeaders, client.block('/x', [['content-length', `${message.length}`]]));
    client.send(FRAME.data, 0, 1, message.subarray(0, 7));
    const rest = Buffer.concat([Buffer.of(2), message.subarray(7), Buffer.alloc(2)]);
    client.send(FRAME.data, FLAG.padded | endStream, 1, rest);
    await client.received(({ type, flags }) => type === FRAME.headers && (flags & endStream) !== 0);
    expect(client.body(1)).toEqual(message);
  });

  it('not even that for streams that depend on themselves', async () => {
    client.send(FRAME.priority, 0, 1, Buffer.of(0, 0, 0, 1, 9));
    const block = Buffer.concat([Buffer.of(0, 0, 0, 1, 9), client.block()]);
    client.headers(1, endHeaders | FLAG.priority, block);
    client.send(FRAME.priority, 0, 1, Buffer.of(0x80, 0, 0, 1, 9));
    client.send(FRAME.data, endStream, 1, grpcMessage('ab'));
    await client.received(({ type, flags }) => type === FRAME.headers && (flags & endStream) !== 0);
    expect(client.body(1)).toEqual(grpcMessage('ab'));
    await echoes(3);
  });

  it('when it was answered before its DATA came, which is dropped whatever was announced', async () => {
    const block = client.block('/answered', [['content-length', '1']]);
    client.headers(1, endHeaders, block);
    expect(await client.reset(1)).toBe(0);
    client.send(FRAME.data, endStream, 1, Buffer.from('test'));
    client.send(FRAME.windowUpdate, 0, 1, numbers(0x7fffffff));
    await echoes(3);
  });

  it('not even that for padding, priorities, unknown frames and settings, and octets that come one by one', async () => {
    const block = client.block();
    const parts = [
      frame(0x77, 0xff, 9, Buffer.from('whatever')),
      frame(FRAME.priority, 0, 7, Buffer.alloc(5)),
      settingsFrame([[0x99, 1]]),
      frame(
        FRAME.headers,
        FLAG.padded | FLAG.priority,
        1,
        Buffer.concat([Buffer.of(3), Buffer.alloc(5), block.subarray(0, 10), Buffer.alloc(3)]),
      ),
      frame(FRAME.continuation, endHeaders, 1, block.subarray(10)),
      frame(
        FRAME.data,
        FLAG.padded,
        1,
        Buffer.concat([Buffer.of(2), grpcMessage('ab'), Buffer.alloc(2)]),
      ),
      frame(FRAME.headers, CALL, 1, Buffer.of(0x0f, 0x2d, 0)),
    ];
    for (const octet of Buffer.concat(parts)) client.socket.write(Buffer.of(octet));
    await client.received(
      ({ streamId, flags, type }) =>
        streamId === 1 && type === FRAME.headers && (flags & endStream) !== 0,
    );
    expect(client.body(1)).toEqual(grpcMessage('ab'));
    expect(server.requests[0]?.[':authority']).toBe('localhost');
    await echoes(3);
  });
});
