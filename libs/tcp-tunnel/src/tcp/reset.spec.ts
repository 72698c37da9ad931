import { connect, type Socket } from 'node:net';
import { listenTcp } from './tcp-listener.js';
import { startTcpServer, until } from '../testing/tcp-server.js';
import { openPair, type TunnelPair } from '../testing/tunnel-pair.js';
import type { TunnelTimes } from '../stream/session-settings.js';

const ANSWER_BYTES = 5_000_000;
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function tunnelTo(program: (socket: Socket) => void, times: Partial<TunnelTimes> = {}) {
  const target = await startTcpServer(program);
  closers.push(() => target.close());
  const pair = await openPair({ allowedPorts: [target.port], times }, { times });
  closers.push(() => pair.close());
  const listener = await listenTcp({
    host: '127.0.0.1',
    port: 0,
    open: () => pair.client.connect(target.port),
  });
  closers.push(() => listener.close());
  return { pair, listener, port: listener.port };
}

const portOf = async (program: (socket: Socket) => void): Promise<number> =>
  (await tunnelTo(program)).port;

async function readSlowly(port: number): Promise<{ end: string; bytes: number }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let end = 'nothing';
  let bytes = 0;
  let closed = false;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    socket.pause();
    setImmediate(() => socket.resume());
  });
  socket.once('end', () => {
    end = 'end';
    // After reading the whole answer, this client notices a reset only when it writes.
    socket.write('', (error) => (error ? undefined : socket.end()));
  });
  socket.once('error', () => (end = 'reset'));
  socket.once('close', () => (closed = true));
  socket.write('request');
  await until(() => closed);
  return { end, bytes };
}

describe('an answer of a program of the host', () => {
  it('never looks whole when the program resets its connection', async () => {
    const port = await portOf((socket) => {
      socket.once('data', () =>
        socket.write(Buffer.alloc(ANSWER_BYTES), () => socket.resetAndDestroy()),
      );
    });
    for (let time = 0; time < 5; time += 1) expect((await readSlowly(port)).end).toBe('reset');
  });

  it('is whole when the program closes its connection', async () => {
    const port = await portOf((socket) => {
      socket.once('data', () => socket.end(Buffer.alloc(ANSWER_BYTES)));
    });
    expect(await readSlowly(port)).toEqual({ end: 'end', bytes: ANSWER_BYTES });
  });

  it('ends at once although the program reads no more of what it was sent', async () => {
    const port = await portOf((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.end('too long');
      });
    });
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    closers.push(() => Promise.resolve(socket.destroy()));
    let answer = '';
    let ended = false;
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.once('end', () => (ended = true));
    socket.on('error', () => undefined);
    socket.write(Buffer.alloc(16_000_000));
    await until(() => ended);
    expect(answer).toBe('too long');
  });
});

describe('a reset', () => {
  const times = { tickMs: 10, stoppedReaderMs: 50 };
  const TOO_MUCH = Buffer.alloc(32_000_000);

  async function standstill({ client, server }: TunnelPair): Promise<void> {
    const moved = (): number => client.traffic.sentBytes + server.traffic.sentBytes;
    let last = -1;
    for (let looks = 0; looks < 10; looks += 1) {
      if (moved() !== last) looks = 0;
      last = moved();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Writes, because a paused socket reports a reset only when something is written. */
  const isReset = (socket?: Socket): Promise<boolean> =>
    new Promise((resolve) => socket?.write('next', (error) => resolve(Boolean(error))));

  it('of an upload to a program that hangs reaches that program, and leaves no stream', async () => {
    const programs: Socket[] = [];
    const { pair, listener, port } = await tunnelTo(
      (socket) => void programs.push(socket.pause()),
      times,
    );
    const upload = connect(port, '127.0.0.1').on('error', () => undefined);
    upload.write(TOO_MUCH);
    await standstill(pair);
    expect([pair.client.streamCount, pair.server.streamCount]).toEqual([1, 1]);
    upload.resetAndDestroy();
    await until(() => pair.client.streamCount + pair.server.streamCount === 0);
    await until(() => listener.connectionCount === 0);
    expect(await isReset(programs[0])).toBe(true);
  });

  it('of a program whose answer no one reads reaches its reader, and leaves no stream', async () => {
    let program: Socket | undefined;
    const { pair, listener, port } = await tunnelTo((socket) => {
      program = socket;
      socket.write(TOO_MUCH);
    }, times);
    const reader = connect(port, '127.0.0.1').pause();
    await until(() => program !== undefined);
    await standstill(pair);
    expect([pair.client.streamCount, pair.server.streamCount]).toEqual([1, 1]);
    program?.resetAndDestroy();
    await until(() => pair.client.streamCount + pair.server.streamCount === 0);
    await until(() => listener.connectionCount === 0);
    expect(await isReset(reader.on('error', () => undefined))).toBe(true);
  });
});
