import type { PipeServerCheck } from '@wins/base';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { linkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { connectPipe } from './connect-pipe.js';

/** Serves an echo with a backlog of one. */
const server = `require('net').createServer((c) => c.pipe(c))
  .listen({ path: process.argv[1], backlog: 1 }, () => console.log('listening'));
  process.stdin.resume().on('end', () => process.exit())`;

describe('connectPipe', () => {
  let directory = '';

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'wins-connect-'));
  });

  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  const socketPath = (): string => join(directory, 'x');

  describe('to a pipe that takes no further client', () => {
    let folder = '';
    let child: ChildProcessByStdio<Writable, Readable, null>;
    let waiting: Socket[] = [];
    const fullPath = (): string => join(folder, 'full');

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'wins-full-'));
      child = spawn(process.execPath, ['-e', server, fullPath()], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
    });

    beforeEach(async () => {
      child.kill('SIGSTOP');
      waiting = await fillBacklog(fullPath());
    });

    afterEach(() => {
      for (const socket of waiting) socket.destroy();
      child.kill('SIGCONT');
    });

    afterAll(async () => {
      const end = once(child, 'exit');
      child.kill('SIGKILL');
      await end;
      await rm(folder, { recursive: true });
    });

    test('says busy at the end of its time', async () => {
      await expect(connectPipe(fullPath(), { timeoutMs: 50 })).rejects.toMatchObject({
        code: 'busy',
        cause: { code: 'EAGAIN' },
      });
    });

    test('is let in as soon as there is room', async () => {
      let tries = 0;
      const random = (): number => {
        tries += 1;
        if (tries === 3) child.kill('SIGCONT');
        return 0.2;
      };
      const socket = await connectPipe(fullPath(), { timeoutMs: 600_000, random });
      socket.write('in');
      expect(String((await once(socket, 'data'))[0])).toBe('in');
      socket.destroy();
      expect(tries).toBeGreaterThanOrEqual(3);
    });

    test('has its whole time to be let in, however long it was absent', async () => {
      const later = join(directory, 'later');
      let tries = 0;
      const random = (): number => {
        tries += 1;
        // By the fourth try, the pipe has been absent for 20 + 40 + 80 ms.
        if (tries === 4) linkSync(fullPath(), later);
        return tries < 4 ? 1 : 0.05;
      };
      await expect(
        connectPipe(later, { timeoutMs: 100, waitTimeoutMs: 600_000, random }),
      ).rejects.toMatchObject({ code: 'busy' });
      expect(tries).toBeGreaterThan(4);
    });

    test('gives up at once with the reason of the signal', async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      const random = (): number => {
        controller.abort(reason);
        return 1;
      };
      const options = { timeoutMs: 600_000, signal: controller.signal, random };
      await expect(connectPipe(fullPath(), options)).rejects.toMatchObject({
        code: 'aborted',
        cause: reason,
      });
    });
  });

  test('says timeout when the system does not answer in time, and leaves no connection', async () => {
    const accepted: Socket[] = [];
    const listening = createServer((connection) => accepted.push(connection)).listen(socketPath());
    await once(listening, 'listening');
    const attempt = connectPipe(socketPath(), { timeoutMs: 1 });
    // Block this process until the time-out is over, so that it cannot see the answer in time.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    await expect(attempt).rejects.toMatchObject({ code: 'timeout' });
    await new Promise((resolve) => listening.close(resolve));
    expect(accepted.every((connection) => connection.destroyed)).toBe(true);
  });

  test('gives up an attempt that is under way when the signal is aborted', async () => {
    const listening = createServer((connection) => connection.resume()).listen(socketPath());
    await once(listening, 'listening');
    const controller = new AbortController();
    const reason = new Error('enough');
    const attempt = connectPipe(socketPath(), { signal: controller.signal });
    controller.abort(reason);
    await expect(attempt).rejects.toMatchObject({ code: 'aborted', cause: reason });
    await new Promise((resolve) => listening.close(resolve));
  });

  describe('with a check of who serves the pipe', () => {
    const failing = (code: string): PipeServerCheck => ({
      open: () => Promise.reject(Object.assign(new Error(`says ${code}`), { code })),
    });

    test('hands out the socket that the check opened', async () => {
      const own = new Socket();
      const addresses: string[] = [];
      const security: PipeServerCheck = {
        open: ({ address }) => {
          addresses.push(address);
          return Promise.resolve(own);
        },
      };
      expect(await connectPipe(socketPath(), { security })).toBe(own);
      expect(addresses).toEqual([socketPath()]);
      own.destroy();
    });

    test('does not speak to a server that is not trusted, nor try again', async () => {
      const security = failing('ERR_UNTRUSTED_PIPE_SERVER');
      const options = { security, timeoutMs: 600_000, waitTimeoutMs: 600_000 };
      await expect(connectPipe(socketPath(), options)).rejects.toMatchObject({
        code: 'securityUnavailable',
        message: `cannot connect to pipe ${socketPath()}: says ERR_UNTRUSTED_PIPE_SERVER`,
      });
    });

    test.each([
      ['EBUSY', 'busy', { timeoutMs: 30 }],
      ['ENOENT', 'notFound', { waitTimeoutMs: 30 }],
      ['ECONNRESET', 'closed', { waitTimeoutMs: 30 }],
    ])('tries again after %s and says %s in the end', async (given, code, times) => {
      let tries = 0;
      const security: PipeServerCheck = {
        open: (path, { signal }) => {
          tries += 1;
          return failing(given).open(path, { signal });
        },
      };
      const attempt = connectPipe(socketPath(), { security, random: () => 0.01, ...times });
      await expect(attempt).rejects.toMatchObject({ code });
      expect(tries).toBeGreaterThan(1);
    });

    test('destroys a socket that comes after the signal', async () => {
      const own = new Socket();
      const controller = new AbortController();
      const reason = new Error('enough');
      let open: (socket: Socket) => void = () => undefined;
      let isTold = false;
      const security: PipeServerCheck = {
        open: (_path, { signal }) => {
          signal.addEventListener('abort', () => (isTold = true));
          return new Promise((resolve) => (open = resolve));
        },
      };
      const attempt = connectPipe(socketPath(), { security, signal: controller.signal });
      controller.abort(reason);
      await expect(attempt).rejects.toMatchObject({ code: 'aborted', cause: reason });
      expect(isTold).toBe(true);
      open(own);
      await once(own, 'close');
    });
  });

  test('says notFound of a file that nobody serves, and what to check', async () => {
    await writeFile(socketPath(), '');
    await expect(connectPipe(socketPath())).rejects.toMatchObject({
      code: 'notFound',
      message: `cannot connect to pipe ${socketPath()}: the socket file exists, but no process serves it; check that the daemon is running and the name is right`,
    });
  });

  test('waits longer and longer, but not beyond its time', async () => {
    let tries = 0;
    const random = (): number => {
      tries += 1;
      return 1;
    };
    await expect(connectPipe(socketPath(), { waitTimeoutMs: 100, random })).rejects.toMatchObject({
      code: 'notFound',
    });
    // The delays are 20 ms, 40 ms and the rest of 100 ms. A timer that fires early adds a try; a slow machine makes
    // fewer tries.
    expect(tries).toBeLessThanOrEqual(4);
    expect(tries).toBeGreaterThan(0);
  });

  test.each([{ timeoutMs: 0 }, { timeoutMs: Infinity }, { waitTimeoutMs: -1 }])(
    'refuses times that are not whole numbers in range: %j',
    async (options) => {
      await expect(connectPipe(socketPath(), options)).rejects.toThrow(RangeError);
    },
  );

  test('a connection that fails does not end the process, though nobody listens', async () => {
    const listening = createServer((connection) => connection.end()).listen(socketPath());
    await once(listening, 'listening');
    const socket = await connectPipe(socketPath());
    const end = new Promise((resolve) => socket.once('close', resolve));
    socket.destroy(new Error('bad'));
    await end;
    await new Promise((resolve) => listening.close(resolve));
  });
});

async function fillBacklog(path: string): Promise<Socket[]> {
  const waiting: Socket[] = [];
  for (;;) {
    const socket = connect(path);
    const isIn = await new Promise<boolean>((resolve) => {
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    });
    if (!isIn) return waiting;
    waiting.push(socket);
  }
}
