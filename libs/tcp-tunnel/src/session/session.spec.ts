import { once } from 'node:events';
import type { SessionStream } from '../stream/session-stream.js';
import { DEFAULT_FLOW_LIMITS } from '../stream/flow-control.js';
import { Session } from './session.js';
import type { SessionRole, TunnelEnd } from './session-state.js';
import { DEFAULT_TIMES, type SessionSettings } from '../stream/session-settings.js';
import { MemoryLink } from '../testing/memory-link.js';
import { decodeMessage, MessageEncoder } from '../wire/encode.js';
import type { TunnelMessage } from '../wire/message.js';
import { PROTOCOL_LIMITS } from '../wire/limits.js';

const settings: SessionSettings = {
  ...DEFAULT_TIMES,
  flow: { ...DEFAULT_FLOW_LIMITS, inFlightBytes: 100 * 1024, unsentCapBytes: 1024 * 1024 },
};
const MESSAGE = PROTOCOL_LIMITS.sentDataBytes;

interface SessionOverMemory {
  readonly session: Session;
  readonly link: MemoryLink;
  readonly ends: TunnelEnd[];
}

function sessionOf(role: SessionRole): SessionOverMemory {
  const link = new MemoryLink(Number.MAX_SAFE_INTEGER);
  const ends: TunnelEnd[] = [];
  const onEnd = (end: TunnelEnd): void => void ends.push(end);
  const session = new Session({
    role,
    transport: link,
    settings,
    onEnd,
    onIdle: () => undefined,
    onPeerNeverPauses: () => undefined,
  });
  return { session, link, ends };
}

function client(): SessionOverMemory {
  return sessionOf({ kind: 'client' });
}

function server(): SessionOverMemory & { readonly opened: SessionStream[] } {
  const opened: SessionStream[] = [];
  const open = (stream: SessionStream): void => {
    opened.push(stream.on('error', () => undefined));
  };
  const admit = () => ({ open });
  return { ...sessionOf({ kind: 'server', admit, mostListed: 10 }), opened };
}

function messagesOf(link: MemoryLink): TunnelMessage[] {
  while (!link.quiet) link.handOn();
  return link.wire.splice(0).map(decodeMessage);
}

function sent(link: MemoryLink): string[] {
  return messagesOf(link).map((message) =>
    `${message.type} ${'id' in message ? message.id : ''}`.trim(),
  );
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('what a session sends', () => {
  it('gives each stream one message in turn', async () => {
    const { session, link } = client();
    const streams = [1, 2, 3].map(() => session.connect('tcp/localhost:1'));
    sent(link);
    for (const stream of streams) stream.write(Buffer.alloc(5 * MESSAGE));
    // The transport took two messages of the first stream before the other streams had data.
    const order = [1, 1, 1, 2, 3, 1, 2, 3, 1, 2, 3, 2, 3, 2, 3];
    expect(sent(link)).toEqual(order.map((id) => `data ${id}`));
    await settle();
  });

  it('lets control messages pass data that waits for its turn', () => {
    const { session, link } = client();
    const stream = session.connect('tcp/localhost:1');
    stream.write(Buffer.alloc(10 * MESSAGE));
    session.connect('tcp/localhost:2').destroy();
    expect(sent(link).slice(0, 6)).toEqual([
      'hello',
      'connect 1',
      'data 1',
      'data 1',
      'connect 2',
      'error 2',
    ]);
  });

  it('honours a Pause at once, for that stream alone', async () => {
    const { session, link } = client();
    const encode = new MessageEncoder();
    const [paused, other] = [
      session.connect('tcp/localhost:1'),
      session.connect('tcp/localhost:2'),
    ];
    paused.write(Buffer.alloc(10 * MESSAGE));
    session.message([encode.pause(1)]);
    other.write('x');
    const order = sent(link);
    expect(order.filter((entry) => entry === 'data 1')).toHaveLength(2);
    expect(order).toContain('data 2');
    session.message([encode.resume(1)]);
    expect(sent(link)).toEqual(Array(8).fill('data 1'));
    await settle();
  });

  it('lets large messages rest after a turn, and small ones pass them', () => {
    const { session, link } = client();
    const [large, small] = [session.connect('tcp/localhost:1'), session.connect('tcp/localhost:2')];
    sent(link);
    const turn = DEFAULT_FLOW_LIMITS.loneTurnBytes / MESSAGE;
    large.write(Buffer.alloc((turn + 4) * MESSAGE));
    link.keepsResting = true;
    for (let message = 0; message < turn + 4; message += 1) link.handOn();
    small.write('x');
    link.keepsResting = false;
    const first = Array<string>(turn).fill('data 1');
    expect(sent(link)).toEqual([...first, 'data 2', ...Array<string>(4).fill('data 1')]);
    expect(link.rests[0]).toBe('turn');
  });

  it('rests sooner and longer while another stream sends small messages', () => {
    const { session, link } = client();
    const [large, small] = [session.connect('tcp/localhost:1'), session.connect('tcp/localhost:2')];
    small.write('x');
    large.write(Buffer.alloc(18 * MESSAGE));
    sent(link);
    expect(link.rests).toEqual(['idle', 'idle']);
    large.write(Buffer.alloc(70 * 8 * MESSAGE));
    sent(link);
    expect(new Set(link.rests.slice(0, 64))).toEqual(new Set(['idle']));
    expect(link.rests.at(-1)).toBe('turn');
  });

  it('sends two reads of a socket as one message to a peer that said hello, and as two to any other', () => {
    for (const peer of ['hello', undefined]) {
      const { session, link } = client();
      if (peer === 'hello') session.message([new MessageEncoder().hello()]);
      const stream = session.connect('tcp/localhost:1');
      stream.keepsWritten = true;
      session.message([new MessageEncoder().pause(1)]);
      const reads = [1, 2, 3].map((byte) => Buffer.alloc(MESSAGE, byte));
      for (const read of reads) stream.write(read);
      // The stream does not accept the third write before the first two are sent.
      expect(stream.writableLength).toBe(2 * MESSAGE);
      session.message([new MessageEncoder().resume(1)]);
      const bodies = messagesOf(link).flatMap((message) =>
        message.type === 'data' ? [message.payload] : [],
      );
      expect(bodies.map(({ length }) => length / MESSAGE)).toEqual(peer ? [2, 1] : [1, 1, 1]);
      expect(Buffer.concat(bodies).equals(Buffer.concat(reads))).toBe(true);
    }
  });

  it('lets no second chunk wait in a stream when it is short, or when much waits in the session', () => {
    const { session, link } = client();
    session.message([new MessageEncoder().hello()]);
    const writes = (chunk: Buffer): SessionStream => {
      const stream = session.connect('tcp/localhost:1');
      stream.keepsWritten = true;
      stream.on('error', () => undefined);
      session.message([new MessageEncoder().pause(stream.id)]);
      stream.write(chunk);
      return stream;
    };
    expect(writes(Buffer.alloc(100)).writableLength).toBe(100);
    const streams = DEFAULT_FLOW_LIMITS.sendAheadBytes / MESSAGE;
    for (let count = 0; count < streams; count += 1)
      expect(writes(Buffer.alloc(MESSAGE)).writableLength).toBe(0);
    const late = writes(Buffer.alloc(MESSAGE));
    expect(late.writableLength).toBe(MESSAGE);
    // Bytes no longer count once they are sent or discarded.
    session.message([new MessageEncoder().resume(late.id), new MessageEncoder().resume(2)]);
    sent(link);
    session.close({ reason: 'closed' });
    expect(session.waitingBytes).toBe(0);
  });

  it('ends a stream behind what waits, though its writer was told that it went', async () => {
    const { session, link } = client();
    session.message([new MessageEncoder().hello()]);
    const stream = session.connect('tcp/localhost:1');
    stream.keepsWritten = true;
    session.message([new MessageEncoder().pause(1)]);
    const written = new Promise((resolve) => stream.write(Buffer.alloc(MESSAGE), resolve));
    stream.end();
    await written;
    await settle();
    expect(sent(link)).toEqual(['hello', 'connect 1']);
    session.message([new MessageEncoder().resume(1)]);
    expect(sent(link)).toEqual(['data 1', 'end 1']);
  });

  it('goes on sending at the next tick although the transport forgot to say that it can', () => {
    const { session, link } = client();
    const stream = session.connect('tcp/localhost:1');
    stream.write(Buffer.alloc(4 * MESSAGE));
    link.forget();
    expect(sent(link)).toEqual([]);
    session.tick(5_000);
    expect(sent(link)).toEqual(['data 1', 'data 1']);
  });
});

describe('what a server answers', () => {
  it('is bounded: a client that makes it answer and reads nothing loses its session', () => {
    const { session, link, ends } = server();
    const { message } = new MessageEncoder().data(77, 0);
    let answered = 0;
    while (session.state.kind === 'open') {
      session.message([message]);
      link.endTurn();
      answered += 1;
    }
    expect(link.bufferedBytes).toBeGreaterThan(settings.flow.unsentCapBytes);
    expect(link.bufferedBytes).toBeLessThan(settings.flow.unsentCapBytes + 200);
    expect(answered).toBeGreaterThan(100);
    session.closed(1006, '', undefined);
    expect(ends).toMatchObject([{ reason: 'failed', error: { code: 'sendOverflow' } }]);
  });

  it('delivers what a stream holds before it fails because the client no longer lists it', async () => {
    const { session, opened } = server();
    const encode = new MessageEncoder();
    session.message([encode.connect(1, 'tcp/localhost:1')]);
    const { message, bodyOffset } = encode.data(1, 4);
    message.write('held', bodyOffset);
    session.message([message]);
    for (let tick = 0; tick < 3; tick += 1) session.tick(5_000);
    session.message([encode.sync([])]);
    let text = '';
    opened[0]?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const error = await new Promise<unknown>((resolve) => opened[0]?.once('error', resolve));
    expect([text, error]).toMatchObject(['held', { code: 'streamForgotten' }]);
  });
});

describe('messages that wait when the connection is lost', () => {
  it('are data of open streams, and no Connects, because nothing can be answered', () => {
    const { session, opened } = server();
    const peer = new MessageEncoder();
    for (let id = 1; id <= 40; id += 1) session.message([peer.connect(id, 'tcp/localhost:1')]);
    for (const id of [1, 40]) session.message([peer.data(id, 7).message]);
    expect(opened).toHaveLength(32);
    session.closed(1006, '', undefined);
    expect(opened).toHaveLength(32);
    expect(opened[0]?.bytesRead).toBe(7);
  });
});

describe('a message that comes in parts', () => {
  const data = (encode: MessageEncoder, id: number, text: string): Buffer => {
    const { message, bodyOffset } = encode.data(id, Buffer.byteLength(text));
    message.write(text, bodyOffset);
    return message;
  };
  const cut = (message: Buffer, ...ends: number[]): Buffer[] =>
    [0, ...ends].map((from, index) => message.subarray(from, ends[index]));

  it('is given to its stream part by part, and to none once that is over', () => {
    const { session, opened, link } = server();
    const encode = new MessageEncoder();
    session.message([encode.connect(1, 'tcp/localhost:1')]);
    const stream = opened[0];
    const texts: string[] = [];
    stream?.on('data', (chunk: Buffer) => {
      texts.push(chunk.toString());
      if (texts.length === 2) stream.destroy();
    });
    stream?.on('error', () => undefined);
    stream?.resume().read(0);
    session.message(cut(data(encode, 1, 'one two three'), -10, -6));
    expect([texts, stream?.bytesRead]).toEqual([['one', ' two'], 7]);
    expect(sent(link)).toEqual(['error 1']);
  });

  it('is put together when it is no data, or for no stream, and answered once', () => {
    const { session, opened, link } = server();
    const encode = new MessageEncoder();
    session.message(cut(encode.connect(3, 'tcp/localhost:1'), -4));
    expect(opened.map(({ id }) => id)).toEqual([3]);
    session.message(cut(data(encode, 7, 'x'.repeat(100)), 50));
    expect(sent(link)).toEqual(['error 7']);
  });

  it('waits as a whole behind messages that came before it', () => {
    const { session, opened, link } = server();
    const encode = new MessageEncoder();
    for (let id = 1; id <= 40; id += 1) session.message([encode.connect(id, 'tcp/localhost:1')]);
    expect(opened.length).toBeLessThan(40);
    session.message(cut(data(encode, 40, 'some text'), -3));
    while (opened.length < 40) link.endTurn();
    expect(opened[39]?.bytesRead).toBe(9);
  });

  it('ends the session when its beginning is malformed', () => {
    const { session } = server();
    session.message(cut(Buffer.alloc(60, 0xff), 50));
    expect(session.state).toMatchObject({
      kind: 'closing',
      end: { reason: 'failed', error: { code: 'protocolViolation' } },
    });
  });
});

describe('what a session holds for readers', () => {
  /** Returns a Data message as a view into a larger read, as a WebSocket delivers it. */
  const received = (encode: MessageEncoder, payloadBytes: number): Buffer => {
    const { message } = encode.data(1, payloadBytes);
    const read = Buffer.alloc(4 * payloadBytes);
    message.copy(read, 10);
    return read.subarray(10, 10 + message.length);
  };

  it.each([
    ['before anybody reads', () => undefined],
    ['in the read-ahead of a reader that has stopped', (stream: SessionStream) => stream.read(0)],
  ])('keeps no more of a read alive than it counts, %s', async (_when, begin) => {
    const { session, opened } = server();
    const encode = new MessageEncoder();
    session.message([encode.connect(1, 'tcp/localhost:1')]);
    const [stream] = opened;
    if (stream === undefined) throw new Error('no stream was opened');
    begin(stream);
    for (let sentBytes = 0; sentBytes < 50 * 16_384; sentBytes += 16_384)
      session.message([received(encode, 16_384)]);
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    await settle();
    expect(chunks).toHaveLength(50);
    // The session may pass the first chunk to a waiting reader without a copy.
    for (const chunk of chunks.slice(1)) expect(chunk.buffer.byteLength).toBe(16_384);
    stream.destroy();
  });

  it('holds an end back while the answer goes on, and tells it when nothing came for a second', () => {
    const { session, link } = client();
    const stream = session.connect('tcp/localhost:1').resume();
    const encode = new MessageEncoder();
    const answer = (): void => session.message([encode.data(stream.id, 100).message]);
    answer();
    stream.end();
    expect(sent(link)).toEqual(['hello', 'connect 1']);
    for (let second = 0; second < 5; second += 1) {
      answer();
      link.elapse();
      expect(sent(link)).toEqual([]);
    }
    link.elapse();
    expect(sent(link)).toEqual(['error 1']);
  });

  it('copies nothing for a reader that keeps up', () => {
    const { session, opened } = server();
    const encode = new MessageEncoder();
    session.message([encode.connect(1, 'tcp/localhost:1')]);
    const chunks: Buffer[] = [];
    opened[0]?.on('data', (chunk: Buffer) => chunks.push(chunk)).read(0);
    const message = received(encode, 20_000);
    for (let count = 0; count < 5; count += 1) session.message([message]);
    expect(chunks.map((chunk) => chunk.buffer === message.buffer)).toEqual(Array(5).fill(true));
    opened[0]?.destroy();
  });
});

describe('the clock of a session', () => {
  it('ends a session whose peer says nothing for a minute', () => {
    const { session, link, ends } = client();
    for (let tick = 1; tick < 12; tick += 1) session.tick(5_000);
    expect(session.state.kind).toBe('open');
    session.tick(5_000);
    expect(session.state.kind).toBe('closing');
    expect(link.ended).toBe(true);
    session.closed(1006, '', undefined);
    expect(ends).toMatchObject([{ reason: 'failed', error: { code: 'peerSilent' } }]);
  });

  it('begins anew at every sign of life, and pings at every tick', () => {
    const { session, link } = client();
    for (let tick = 0; tick < 100; tick += 1) {
      session.tick(5_000);
      session.heard();
    }
    expect(session.state.kind).toBe('open');
    expect(link.pings).toBe(100);
  });

  it('counts a tick that came an hour late as little more than one', () => {
    const { session } = client();
    for (let tick = 0; tick < 7; tick += 1) session.tick(3_600_000);
    expect(session.state.kind).toBe('open');
  });

  it('lists the open streams every minute, ascending, those just opened included', () => {
    const { session, link } = client();
    session.connect('tcp/localhost:1');
    const gone = session.connect('tcp/localhost:2');
    for (let tick = 0; tick < 11; tick += 1) {
      session.tick(5_000);
      session.heard();
    }
    gone.destroy();
    session.connect('tcp/localhost:3');
    while (link.bufferedBytes > 0) link.handOn();
    link.wire.length = 0;
    session.tick(5_000);
    link.handOn();
    expect(link.wire.map(decodeMessage)).toEqual([{ type: 'sync', ids: [1, 3] }]);
  });
});

describe('a stream in which nothing moves', () => {
  const encode = new MessageEncoder();
  const tickFor = (session: Session, ms: number): void => {
    for (let elapsed = 0; elapsed < ms; elapsed += settings.tickMs) {
      session.heard();
      session.tick(settings.tickMs);
    }
  };
  const dataOf = (id: number, bytes: number): Buffer => encode.data(id, bytes).message;

  it('is over 30 s after its peer reset it, counted from the last byte that its reader took', async () => {
    const { session, opened } = server();
    session.message([encode.hello()]);
    session.message([encode.connect(1, 'tcp/localhost:1')]);
    const [stream] = opened;
    const failed = once(stream as SessionStream, 'error');
    session.message([dataOf(1, 100_000)]);
    session.message([encode.error(1, 'connection reset')]);
    tickFor(session, 25_000);
    expect(stream?.read(1)).toHaveLength(1);
    tickFor(session, 25_000);
    expect(stream?.destroyed).toBe(false);
    tickFor(session, 5_000);
    expect(await failed).toMatchObject([
      { code: 'readerStopped', cause: { code: 'streamReset', peerText: 'connection reset' } },
    ]);
    expect(session.streamCount).toBe(0);
  });

  it.each([
    ['closed it', () => encode.error(1, 'EOF')],
    ['ended its side', () => encode.end(1)],
  ])('and whose peer %s, gives its reader ten minutes', (_how, message) => {
    const { session, opened } = server();
    session.message([encode.hello()]);
    session.message([encode.connect(1, 'tcp/localhost:1')]);
    const [stream] = opened;
    stream?.on('error', () => undefined);
    session.message([dataOf(1, 100_000)]);
    session.message([message()]);
    tickFor(session, 595_000);
    expect(stream?.read(1)).toHaveLength(1);
    tickFor(session, 595_000);
    expect(stream?.destroyed).toBe(false);
    tickFor(session, 5_000);
    expect(stream?.destroyed).toBe(true);
  });

  it('is ended after half an hour when its client cannot tell an end, and kept when it can', () => {
    for (const [hello, streams] of [
      [false, 0],
      [true, 1],
    ] as const) {
      const { session, opened, link } = server();
      if (hello) session.message([encode.hello()]);
      session.message([encode.connect(1, 'tcp/localhost:1')]);
      opened[0]?.on('error', () => undefined);
      tickFor(session, 1_795_000);
      expect(session.streamCount).toBe(1);
      tickFor(session, 5_000);
      expect(session.streamCount).toBe(streams);
      expect(sent(link).includes('error 1')).toBe(!hello);
    }
  });

  it('is not one whose half-closed side still brings or takes something', () => {
    const { session } = client();
    session.message([encode.hello()]);
    const stream = session.connect('tcp/localhost:1');
    stream.end();
    // Each read takes 100 bytes, so data stays unread for the whole hour.
    session.message([dataOf(1, 100_000)]);
    for (let minutes = 0; minutes < 60; minutes += 5) {
      tickFor(session, 300_000);
      expect(stream.read(100)).toHaveLength(100);
    }
    stream.resume();
    for (let minutes = 0; minutes < 60; minutes += 5) {
      tickFor(session, 300_000);
      session.message([dataOf(1, 1)]);
    }
    expect(stream.destroyed).toBe(false);
    stream.destroy();
  });
});
