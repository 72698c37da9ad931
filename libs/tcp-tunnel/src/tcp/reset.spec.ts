import { connect, type Socket } from 'node:net';
import { listenTcp } from './tcp-listener.js';
import { startTcpServer, until } from '../testing/tcp-server.js';
import { openPair } from '../testing/tunnel-pair.js';

const ANSWER_BYTES = 5_000_000;
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A port here that leads through a tunnel to a program which answers as it is told to. */
async function portOf(program: (socket: Socket) => void): Promise<number> {
  const target = await startTcpServer(program);
  closers.push(() => target.close());
  const pair = await openPair({ allowedPorts: [target.port] });
  closers.push(() => pair.close());
  const listener = await listenTcp({
    host: '127.0.0.1',
    port: 0,
    open: () => pair.client.connect(target.port),
  });
  closers.push(() => listener.close());
  return listener.port;
}

/** What a client gets that reads a little at a time: how it ended, and how much came. */
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
    // As a program that has its answer: a reset shows only in what it does next.
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
