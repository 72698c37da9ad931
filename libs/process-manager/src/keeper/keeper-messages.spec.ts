import fc from 'fast-check';
import { Socket } from 'node:net';
import * as z from 'zod/mini';
import { speakMessages } from './keeper-messages.js';

const text = z.string();

function framed(message: string): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

/** Hands octets to a reader of messages in pieces, as a socket does. */
function received(octets: Buffer, ...sizes: readonly number[]) {
  const socket = new Socket();
  const messages: string[] = [];
  speakMessages(
    socket,
    text,
    (message) => messages.push(message),
    () => undefined,
  );
  for (let [at, index] = [0, 0]; at < octets.length && !socket.destroyed; index += 1) {
    const size = sizes[index % sizes.length] ?? octets.length;
    socket.emit('data', octets.subarray(at, at + size));
    at += size;
  }
  const isDestroyed = socket.destroyed;
  socket.destroy();
  return { messages, isDestroyed };
}

describe('messages between a daemon and a keeper', () => {
  it('arrive whole, wherever they are cut', () => {
    const size = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(size, { minLength: 1 }), (texts, sizes) => {
        const octets = Buffer.concat(texts.map(framed));
        expect(received(octets, ...sizes)).toEqual({ messages: texts, isDestroyed: false });
      }),
    );
  });

  it('end the connection when they are empty, no JSON, or too long', () => {
    for (const octets of [Buffer.alloc(4), Buffer.from('\0\0\0\u0001{'), Buffer.alloc(4, 0xff)])
      expect(received(octets, 1)).toEqual({ messages: [], isDestroyed: true });
  });

  it('cost the same processor time in small pieces, up to a factor', () => {
    const octets = framed('x'.repeat(4 * 1024 * 1024));
    const costOf = (size: number): number => {
      const before = process.cpuUsage();
      expect(received(octets, size).messages).toHaveLength(1);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    costOf(octets.length);
    expect(costOf(2048)).toBeLessThan(20 * costOf(octets.length));
  });
});
