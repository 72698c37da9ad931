import { failingCallbacks } from '@wins/base/testing';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connectPipe } from './connect-pipe.js';
import { listenPipe, type ListenPipeOptions } from './listen-pipe.js';
import type { PipeError } from './pipe-error.js';
import { privateTransport } from './private-transport.js';

describe('a pipe', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-callbacks-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const address = (): string => path.join(folder, 'x');
  async function connectAndEnd(): Promise<void> {
    const socket = await connectPipe(address());
    await once(socket.resume(), 'close');
  }

  it.each(
    failingCallbacks({
      onError: async (callback) => {
        const failing: ListenPipeOptions['onConnection'] = () => {
          throw new Error('no room');
        };
        await using listener = await listenPipe(address(), {
          onConnection: failing,
          onError: callback,
        });
        await connectAndEnd();
        await connectAndEnd();
        expect(listener.connectionCount).toBe(0);
      },
    }),
  )('accepts more connections when its callback %s', (_name, play) => play());

  it.each<[string, ListenPipeOptions['onConnection']]>([
    [
      'throws',
      () => {
        throw new Error('no room');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no room'))],
  ])('closes a connection, and reports the error, when its receiver %s', async (_how, receiver) => {
    const errors: PipeError[] = [];
    await using _listener = await listenPipe(address(), {
      onConnection: receiver,
      onError: (error) => errors.push(error),
    });
    await connectAndEnd();
    expect(errors).toMatchObject([{ code: 'unknown', cause: { message: 'no room' } }]);
  });

  it('of a private transport closes a connection whose receiver rejects', async () => {
    const receiver = () => Promise.reject(new Error('no room'));
    const listener = await privateTransport().listen(address(), receiver);
    await connectAndEnd();
    await listener.close();
  });
});
