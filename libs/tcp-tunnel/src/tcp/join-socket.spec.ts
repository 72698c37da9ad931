import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { joinSocket } from './join-socket.js';

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
    joinSocket(socket as unknown as Socket, stream, 1000);
    const ended = once(stream, 'finish');
    stream.push('an answer');
    await once(stream, 'data');
    socket.once('end', () => {
      // End the stream now, before `confirmEnd` checks the socket in `setImmediate`.
      stream.push(null);
      process.nextTick(() => written.shift()?.());
    });
    socket.push(null);
    await once(socket, 'close');
    await ended;
    expect(stream.writableFinished).toBe(true);
  }, 5_000);

  it('gives a program that reads nothing of the end of its stream ten minutes', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const write = (): void => undefined;
      const socket = new Duplex({ read: () => undefined, write });
      const reset = jest.fn(() => socket.destroy());
      const stream = new Duplex({
        read: () => undefined,
        write: (_chunk, _encoding, done) => done(),
      });
      joinSocket(
        Object.assign(socket, { resetAndDestroy: reset }) as unknown as Socket,
        stream,
        1000,
      );
      stream.push('unread');
      stream.push(null);
      await once(stream, 'end');
      stream.destroy();
      await once(stream, 'close');
      jest.advanceTimersByTime(599_999);
      expect(reset).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1);
      expect(reset).toHaveBeenCalledTimes(1);
      await once(socket, 'close');
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
