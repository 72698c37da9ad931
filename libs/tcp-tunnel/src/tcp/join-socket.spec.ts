import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { joinSocket } from './join-socket.js';
import type { TunnelStream } from '../stream/tunnel-stream.js';

describe('a socket joined to a stream', () => {
  it('ends the stream also when the socket has sent all and is gone in the turn of its end', async () => {
    const written: (() => void)[] = [];
    const write = (_chunk: Buffer, _encoding: string, done: () => void): void => {
      written.push(done);
    };
    const socket = new Duplex({ read: () => undefined, write });
    const stream = new Duplex({
      read: () => undefined,
      write: (_chunk, _encoding, done) => done(),
    });
    joinSocket(socket as unknown as Socket, stream as unknown as TunnelStream, 1000);
    const ended = once(stream, 'finish');
    stream.push('an answer');
    await once(stream, 'data');
    socket.once('end', () => {
      // In this turn, and before what it left for the end of the turn.
      stream.push(null);
      process.nextTick(() => written.shift()?.());
    });
    socket.push(null);
    await once(socket, 'close');
    await ended;
    expect(stream.writableFinished).toBe(true);
  }, 5_000);
});
