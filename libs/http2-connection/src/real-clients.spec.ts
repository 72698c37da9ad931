import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2, constants, type ClientHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import type { ServedStream } from './served-stream.js';
import { echo, FrameServer, grpcMessage, type FrameServerOptions } from './testing/index.js';

const MIB = 1024 * 1024;

describe('the HTTP/2 client of Node', () => {
  let server: FrameServer;
  let session: ClientHttp2Session;

  async function open(options: FrameServerOptions = {}, settings: object = {}): Promise<void> {
    server = await FrameServer.listen(options);
    session = connectHttp2('http://localhost', {
      createConnection: () => connect(server.address),
      ...settings,
    });
    session.on('error', () => undefined);
  }
  afterEach(async () => {
    session.destroy();
    await server[Symbol.asyncDispose]();
  });

  async function call(body: Buffer, headers: object = {}) {
    const stream = session.request({ ':method': 'POST', ':path': '/x.Y/Z', ...headers });
    const trailers: Record<string, unknown> = {};
    stream.on('trailers', (got: object) => Object.assign(trailers, got));
    stream.end(body);
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(stream, 'end');
    return { body: Buffer.concat(chunks), trailers };
  }

  it.each([0, 1, 100, 16_384, 65_536, MIB])('gets back a message of %i octets', async (length) => {
    await open();
    const message = grpcMessage(randomBytes(length));
    const answer = await call(message);
    expect(answer.body.equals(message)).toBe(true);
    expect(answer.trailers).toMatchObject({ 'grpc-status': '0' });
    const { requestOctets, answerOctets, lastHeaders } = server.streams[0] ?? {};
    expect([requestOctets, answerOctets]).toEqual([message.length, message.length]);
    expect(lastHeaders).toEqual({ 'grpc-status': 0 });
  });

  it('gets back many messages of many calls at once, through small windows', async () => {
    await open({}, { settings: { initialWindowSize: 1000 } });
    const bodies = Array.from({ length: 50 }, (_, index) =>
      Buffer.concat([grpcMessage(randomBytes(10 * index)), grpcMessage(randomBytes(5000))]),
    );
    const answers = await Promise.all(bodies.map((body) => call(body)));
    for (const [index, { body }] of answers.entries())
      expect(body.equals(bodies[index] ?? body)).toBe(true);
  });

  it('gets an answer that is much larger than all windows, and can widen them meanwhile', async () => {
    const part = randomBytes(3 * MIB);
    await open({
      onStream: (stream) => {
        stream.respond({ ':status': 200 }, { waitForTrailers: true });
        stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }));
        let left = 8;
        const more = (): void => {
          left -= 1;
          if (left === 0) stream.end();
          else stream.write(part, more);
        };
        more();
      },
    });
    const stream = session.request({ ':method': 'POST', ':path': '/x.Y/Z' });
    let octets = 0;
    stream.on('data', (chunk: Buffer) => {
      if (octets === 0) session.settings({ initialWindowSize: MIB });
      octets += chunk.length;
    });
    await once(stream, 'end');
    expect(octets).toBe(7 * part.length);
  });

  it('gets trailers that are larger than a frame, and its later calls go on', async () => {
    const text = 'x'.repeat(40_000);
    await open({
      onStream: (stream) => {
        stream.respond({ ':status': 200 }, { waitForTrailers: true });
        stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-message': text }));
        stream.resume().end();
      },
    });
    for (let calls = 0; calls < 2; calls++)
      expect((await call(grpcMessage(''))).trailers).toMatchObject({ 'grpc-message': text });
  });

  it('sends headers of any visible text, coded as it likes, and they arrive', async () => {
    await open();
    const visible = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
    const text = visible.join('').trim();
    for (let round = 0; round < 3; round++) {
      const headers = Object.fromEntries(
        visible.map((character, index) => [`x-${index % 40}`, `a${character.repeat(index)}b`]),
      );
      await call(grpcMessage(''), { 'x-all': text, ...headers });
      expect(server.requests.at(-1)).toMatchObject({ 'x-all': text, ...headers });
    }
  });

  it.each<[string, object, number]>([
    ['a value beyond visible ASCII', { 'x-a': '\u00e9' }, constants.NGHTTP2_PROTOCOL_ERROR],
    ['a tab in a value', { 'x-a': 'a\tb' }, constants.NGHTTP2_PROTOCOL_ERROR],
    ['a name that gRPC does not know', { 'x!a': 'b' }, constants.NGHTTP2_PROTOCOL_ERROR],
  ])('loses one stream for %s, and no more', async (_what, headers, code) => {
    await open();
    const stream = session.request({ ':method': 'POST', ':path': '/x.Y/Z', ...headers });
    stream.on('error', () => undefined);
    await new Promise((resolve) => stream.once('close', resolve));
    expect(stream.rstCode).toBe(code);
    await call(grpcMessage(''));
    expect(server.requests).toHaveLength(1);
  });

  it('is answered at once when it asks too much, while it still sends', async () => {
    await open();
    const stream = session.request({ ':method': 'POST', ':path': '/x.Y/Z' });
    stream.end(grpcMessage(Buffer.alloc(MIB + 1)));
    const [headers] = (await once(stream, 'response')) as [Record<string, string>];
    expect(headers).toMatchObject({ ':status': 200, 'grpc-status': '8' });
    stream.resume();
    await call(grpcMessage('still here'));
  });

  it('may have 256 calls at a time, and its next ones wait for them', async () => {
    const held: ServedStream[] = [];
    await open({ onStream: (stream) => held.push(stream) });
    const calls = Array.from({ length: 300 }, () => call(grpcMessage('')));
    await server.until(() => held.length === 256);
    for (let answered = 0; answered < 300;) {
      await server.until(() => held.length > 0);
      for (const stream of held.splice(0)) {
        echo(stream);
        answered += 1;
      }
    }
    await Promise.all(calls);
    expect(server.reasons).toEqual([]);
  });

  it('learns of a graceful end: calls under way are answered, then the connection closes', async () => {
    const held: ServedStream[] = [];
    await open({ onStream: (stream) => held.push(stream) });
    const goaway = once(session, 'goaway');
    const under = call(grpcMessage('late'));
    await server.until(() => held.length === 1);
    const closed = server.connections[0]?.close({ graceMs: 60_000 });
    await goaway;
    echo(held[0] as ServedStream);
    expect((await under).body.toString()).toContain('late');
    await closed;
    expect(server.reasons).toEqual(['closed']);
  });

  it('is cut when a call does not end within the grace', async () => {
    await open({ onStream: () => undefined });
    const stream = session.request({ ':method': 'POST', ':path': '/x.Y/Z' });
    stream.on('error', () => undefined);
    await server.until(() => server.streams.length === 1);
    await server.connections[0]?.close({ graceMs: 1 });
    expect(server.streams[0]?.aborted).toBe(true);
    expect(server.slots).toBe(0);
  });

  it('tells its handler when it gives a call up', async () => {
    await open({ onStream: () => undefined });
    const stream = session.request({ ':method': 'POST', ':path': '/x.Y/Z' });
    stream.on('error', () => undefined);
    await server.until(() => server.streams.length === 1);
    stream.close(constants.NGHTTP2_CANCEL);
    await server.until(() => server.streams[0]?.closed === true);
    expect(server.streams[0]).toMatchObject({
      aborted: true,
      rstCode: 8,
      destroyed: true,
      lastHeaders: undefined,
    });
  });
});
