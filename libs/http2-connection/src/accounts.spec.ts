import { FLAG, FRAME, frame } from './frame.js';
import { FrameClient, FrameServer, grpcMessage } from './testing/index.js';

const KIB = 1024;
const MIB = 1024 * KIB;

function unfinished(client: FrameClient, streamId: number, octets: number): void {
  const message = grpcMessage(Buffer.alloc(octets)).subarray(0, -1);
  for (let at = 0; at < message.length; at += 16_384) {
    client.send(FRAME.data, 0, streamId, message.subarray(at, at + 16_384));
  }
}

describe('what requests hold', () => {
  let server: FrameServer;
  const clients: FrameClient[] = [];
  const connect = async (): Promise<FrameClient> => {
    const client = await FrameClient.connect(server.address);
    clients.push(client);
    await client.greet();
    return client;
  };
  afterEach(async () => {
    for (const client of clients.splice(0)) client[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });
  const onStream = (): void => undefined;
  const holds = async (octets: number): Promise<void> => {
    while (server.inbound.held !== octets) await new Promise((done) => setImmediate(done));
  };

  it('ends a connection whose unfinished messages are more than 2 MiB (A45)', async () => {
    server = await FrameServer.listen({ onStream });
    const client = await connect();
    for (let id = 1; id < 7; id += 2) {
      client.headers(id);
      unfinished(client, id, MIB);
    }
    expect(await client.goaway()).toBe('tooMuchUnfinished');
    expect(server.inbound.held).toBe(0);
  });

  it('grows with what has come, not with what was announced', async () => {
    server = await FrameServer.listen({ onStream });
    const client = await connect();
    for (let id = 1; id < 200; id += 2) {
      client.headers(id);
      client.send(FRAME.data, 0, id, Buffer.of(0, 0, 16, 0, 0, 1));
    }
    await client.ping('read');
    expect(server.inbound.held).toBeLessThan(MIB);
    expect(server.reasons).toEqual([]);
  });

  it('may be ended by who counts it over all connections; others are served on', async () => {
    server = await FrameServer.listen();
    const honest = await connect();
    honest.headers(1);
    unfinished(honest, 1, 10 * KIB);
    const greedy = await connect();
    greedy.headers(1);
    unfinished(greedy, 1, MIB);
    await greedy.ping('read');
    server.inbound.endLargest();
    expect(await greedy.goaway()).toBe('mostHeld');
    expect(server.reasons).toEqual(['mostHeld']);
    honest.send(FRAME.data, FLAG.endStream, 1, Buffer.of(0));
    await honest.received(({ type }) => type === FRAME.data);
  });

  it('counts messages that nobody takes, small ones for more than their octets', async () => {
    server = await FrameServer.listen({ onStream, hasOneRequest: () => false });
    const client = await connect();
    client.headers(1);
    const many = Buffer.concat(Array.from({ length: 3000 }, () => grpcMessage('')));
    for (let round = 0; round < 4; round++) client.send(FRAME.data, 0, 1, many);
    expect(await client.goaway()).toBe('tooMuchUnfinished');
  });

  it('counts a frame and a header block of which a part has come, until they are whole', async () => {
    server = await FrameServer.listen({ onStream });
    const client = await connect();
    client.headers(1);
    await client.ping('read');
    const before = server.inbound.held;
    const [head, tail] = [Buffer.of(0, 0, 16, 0, 0, 1), Buffer.alloc(16_384 - 6)];
    const whole = frame(FRAME.data, 0, 1, Buffer.concat([head, tail]));
    client.socket.write(whole.subarray(0, 100));
    await holds(before + 16_384);
    client.socket.write(whole.subarray(100));
    await client.ping('whole');
    // Four segments, plus 256 octets of overhead.
    expect(server.inbound.held - before).toBe(16_384 + 256);
    const block = client.block('/x', [['x', 'y'.repeat(8000)]]);
    const held = server.inbound.held;
    client.send(FRAME.headers, 0, 3, block.subarray(0, 8000));
    await holds(held + 8000);
  });

  it('counts the headers that a client tells the server to remember, as long as it does', async () => {
    server = await FrameServer.listen({ onStream });
    const client = await connect();
    // An indexed literal: a name of 4 octets and a value of 1,000.
    const value = Buffer.concat([Buffer.of(0x7f, 0xe9, 0x06), Buffer.alloc(1000, 'v')]);
    const field = Buffer.concat([Buffer.of(0x40, 4), Buffer.from('name'), value]);
    // Static indexes of POST, http and /.
    client.headers(1, FLAG.endHeaders, Buffer.concat([Buffer.of(0x83, 0x86, 0x84), field]));
    await client.ping('read');
    client.send(FRAME.rstStream, 0, 1, Buffer.alloc(4));
    await client.ping('forgot');
    expect([server.inbound.held, server.reasons]).toEqual([4 + 1000 + 32, []]);
  });

  it('counts the headers of calls that live, until they end', async () => {
    server = await FrameServer.listen({ onStream, hasOneRequest: () => false });
    const client = await connect();
    for (let id = 1; id < 61; id += 2) {
      client.headers(id, FLAG.endHeaders, client.block('/x', [['x', 'y'.repeat(12_000)]]));
    }
    await client.ping('read');
    expect(server.inbound.held).toBeGreaterThan(30 * 14_000);
    for (let id = 1; id < 61; id += 2) client.send(FRAME.rstStream, 0, id, Buffer.alloc(4));
    await client.ping('forgot');
    expect(server.inbound.held).toBe(0);
  });

  it('is given back when a message is taken, and the window with it', async () => {
    server = await FrameServer.listen({
      hasOneRequest: () => false,
      onStream: (stream) => stream.resume(),
    });
    const client = await connect();
    client.headers(1);
    for (let count = 0; count < 8; count++) {
      unfinished(client, 1, MIB);
      client.send(FRAME.data, 0, 1, Buffer.of(0));
      // The server refills the window of a stream when half of it is used.
      const updates = () =>
        client.frames.filter(({ type, streamId }) => type === FRAME.windowUpdate && streamId === 1);
      await client.received(() => updates().length > count);
    }
    expect(server.inbound.held).toBeLessThan(4 * KIB);
    expect(server.reasons).toEqual([]);
  });
});

describe('what waits for a client', () => {
  let server: FrameServer;
  let client: FrameClient;
  const open = async (chunk: Buffer): Promise<void> => {
    server = await FrameServer.listen({
      onStream: (stream) => {
        stream.respond({ ':status': 200 });
        stream.write(chunk);
      },
    });
    client = await FrameClient.connect(server.address);
    await client.greet();
  };
  afterEach(async () => {
    client[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  it('may be a message for each of 256 streams: a slow reader is no enemy', async () => {
    await open(Buffer.alloc(64 * KIB));
    for (let id = 1; id < 512; id += 2) client.headers(id, FLAG.endHeaders | FLAG.endStream);
    await client.ping('read');
    expect(server.streams).toHaveLength(256);
    expect(server.reasons).toEqual([]);
    expect(server.outbound.held).toBeGreaterThan(10 * MIB);
    client.socket.destroy();
    await server.until(() => server.slots === 0);
    expect(server.outbound.held).toBe(0);
  });

  it('ends a connection when large answers pile up to more than 4 MiB', async () => {
    await open(Buffer.alloc(3 * MIB));
    for (let id = 1; id < 6; id += 2) client.headers(id, FLAG.endHeaders | FLAG.endStream);
    expect(await client.goaway()).toBe('notReading');
    expect(server.outbound.held).toBe(0);
  });

  it('ends a connection that asks for answers without bodies and never reads', async () => {
    server = await FrameServer.listen({
      onStream: (stream) => {
        stream.respond({ ':status': 200, x: 'y'.repeat(8 * KIB) }, { endStream: true });
      },
    });
    client = await FrameClient.connect(server.address);
    await client.greet();
    client.socket.pause();
    for (let id = 1; id < 512; id += 2) client.headers(id, FLAG.endHeaders | FLAG.endStream);
    await server.until(() => server.reasons.length === 1);
    expect(server.reasons).toEqual(['notReading']);
  });

  it('may be ended by who counts it over all connections, too', async () => {
    await open(Buffer.alloc(3 * MIB));
    client.headers(1, FLAG.endHeaders | FLAG.endStream);
    await client.ping('read');
    server.outbound.endLargest();
    expect(await client.goaway()).toBe('mostHeld');
    expect(server.outbound.held).toBe(0);
  });

  it('goes out in turns: a short answer does not wait for a long one', async () => {
    server = await FrameServer.listen({
      onStream: (stream) => {
        stream.respond({ ':status': 200 }, { waitForTrailers: true });
        stream.once('wantTrailers', () => stream.sendTrailers({}));
        stream.end(Buffer.alloc(stream.id === 1 ? 4 * MIB : 10));
      },
    });
    client = await FrameClient.connect(server.address);
    await client.greet([[4, 0x7fffffff]]);
    client.send(FRAME.windowUpdate, 0, 0, Buffer.from('7fff0000', 'hex'));
    client.headers(1, FLAG.endHeaders | FLAG.endStream);
    client.headers(3, FLAG.endHeaders | FLAG.endStream);
    await client.received(
      ({ streamId, type, flags }) =>
        streamId === 1 && type === FRAME.headers && (flags & FLAG.endStream) !== 0,
    );
    const last = (id: number) =>
      client.frames.findLastIndex(({ streamId, type }) => streamId === id && type === FRAME.data);
    expect(client.body(1)).toHaveLength(4 * MIB);
    expect(client.body(3)).toHaveLength(10);
    expect(last(3)).toBeLessThan(last(1));
  });
});
