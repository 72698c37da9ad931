/**
 * Duties of every listener and connector of pipes, as named checks for any test runner:
 * `test.each(pipeContract(subject))('%s', async (_name, check) => check())`.
 *
 * The list omits checks of abilities that the subject lacks. It is longer than most files, because it is the whole contract.
 */
import { strict as assert } from 'node:assert';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { ConnectPipeOptions } from '../connect-pipe.js';
import type { ListenPipeOptions, PipeListener } from '../listen-pipe.js';
import type { PipeErrorCode } from '../pipe-error.js';

export interface PipeContractSubject {
  listen(name: string, options: ListenPipeOptions): Promise<PipeListener>;
  connect(name: string, options?: ConnectPipeOptions): Promise<Socket>;
  /** Returns a name that nothing has used before. */
  freshName(): string;
  /** True when one side can end and still receive, as on a Unix socket but not on a named pipe. */
  readonly halfClose: boolean;
  /** False when the system accepts a second listener for a name, as only Wine does. */
  readonly exclusiveNames: boolean;
}

type Check = (subject: PipeContractSubject) => Promise<void>;

/** Each check throws if it fails. */
export function pipeContract(
  subject: PipeContractSubject,
): readonly (readonly [name: string, check: () => Promise<void>])[] {
  const applicable = {
    ...ALWAYS,
    ...(subject.halfClose ? WITH_HALF_CLOSE : {}),
    ...(subject.exclusiveNames ? WITH_EXCLUSIVE_NAMES : {}),
  };
  return Object.entries(applicable).map(([name, check]) => [name, () => check(subject)] as const);
}

const ALWAYS: Readonly<Record<string, Check>> = {
  'hands out native sockets on both sides': async (subject) => {
    let accepted: Socket | undefined;
    await served(subject, { onConnection: (socket) => (accepted = socket) }, async (name) => {
      const client = await subject.connect(name);
      await until(() => accepted !== undefined);
      assert.ok(client instanceof Socket);
      assert.ok((accepted as unknown) instanceof Socket);
    });
  },

  'carries every byte value both ways unchanged': async (subject) => {
    const sent = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    await served(subject, { onConnection: echo }, async (name) => {
      assert.deepEqual(await exchange(await subject.connect(name), sent), sent);
    });
  },

  'hands a connection over before its peer has sent anything': async (subject) => {
    await served(subject, { onConnection: (socket) => socket.write('first') }, async (name) => {
      const client = await subject.connect(name);
      assert.equal(String(await received(client, 5)), 'first');
    });
  },

  'loses no byte that came before anyone read': async (subject) => {
    const later = (socket: Socket): void => {
      setImmediate(() => setImmediate(() => echo(socket)));
    };
    await served(subject, { onConnection: later }, async (name) => {
      const client = await subject.connect(name);
      assert.equal(String(await exchange(client, Buffer.from('early'))), 'early');
    });
  },

  'serves many clients at once, each its own bytes': async (subject) => {
    await served(subject, { onConnection: echo }, async (name) => {
      const answers = Array.from({ length: 50 }, async (_, index) => {
        const text = Buffer.from(`client ${index}`.padEnd(12));
        assert.deepEqual(await exchange(await subject.connect(name), text), text);
      });
      await Promise.all(answers);
    });
  },

  'carries 16 MiB to a reader that pauses, without buffering it all': async (subject) => {
    const chunk = randomBytes(64 * 1024);
    const count = 256;
    const expected = createHash('sha256');
    for (let index = 0; index < count; index += 1) expected.update(chunk);
    let wasHeldBack = false;
    const send = async (socket: Socket): Promise<void> => {
      for (let index = 0; index < count; index += 1) {
        if (socket.write(chunk)) continue;
        wasHeldBack = true;
        await once(socket, 'drain');
      }
      socket.end();
    };
    await served(subject, { onConnection: (socket) => void send(socket) }, async (name) => {
      const client = await subject.connect(name);
      const actual = createHash('sha256');
      let sizeBytes = 0;
      for await (const part of client as AsyncIterable<Buffer>) {
        sizeBytes += part.length;
        actual.update(part);
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal(sizeBytes, chunk.length * count);
      assert.equal(actual.digest('hex'), expected.digest('hex'));
      assert.ok(wasHeldBack, 'the writer was never told to wait');
    });
  },

  'outlives clients that connect and vanish': async (subject) => {
    await served(subject, { onConnection: echo }, async (name, listener) => {
      for (let index = 0; index < 20; index += 1) (await subject.connect(name)).destroy();
      const client = await subject.connect(name);
      assert.equal(String(await exchange(client, Buffer.from('still'))), 'still');
      await until(() => listener.connectionCount === 1);
    });
  },

  'closes clients beyond the limit at once, and reuses freed slots': async (subject) => {
    const refusals: PipeErrorCode[] = [];
    const options = {
      onConnection: echo,
      maxConnections: 2,
      onError: (error: { code: PipeErrorCode }) => void refusals.push(error.code),
    };
    await served(subject, options, async (name, listener) => {
      const first = await subject.connect(name);
      const second = await subject.connect(name);
      await exchange(first, Buffer.from('1'));
      await exchange(second, Buffer.from('2'));
      await closed(await subject.connect(name));
      assert.deepEqual(refusals, ['busy']);
      assert.equal(listener.connectionCount, 2);
      first.destroy();
      await until(() => listener.connectionCount === 1);
      await exchange(await subject.connect(name), Buffer.from('3'));
      await exchange(second, Buffer.from('2'));
    });
  },

  'closes a peer that stays silent past the deadline, and spares one that has spoken': async (
    subject,
  ) => {
    await served(subject, { onConnection: echo, handshakeTimeoutMs: 200 }, async (name) => {
      const spoken = await subject.connect(name);
      await exchange(spoken, Buffer.from('x'));
      // The next connection stays silent. It is newer than `spoken`, so its deadline is later. Once it is closed, both deadlines have passed.
      await closed(await subject.connect(name));
      assert.equal(String(await exchange(spoken, Buffer.from('y'))), 'y');
    });
  },

  'closes only the connection whose receiver throws': async (subject) => {
    const errors: unknown[] = [];
    let isFirst = true;
    const onConnection = (socket: Socket): void => {
      if (isFirst) {
        isFirst = false;
        throw new Error('receiver');
      }
      echo(socket);
    };
    const onError = (error: Error): void => void errors.push(error.cause);
    await served(subject, { onConnection, onError }, async (name) => {
      await closed(await subject.connect(name));
      assert.deepEqual(errors, [new Error('receiver')]);
      await exchange(await subject.connect(name), Buffer.from('next'));
    });
  },

  'says notFound of a pipe that is absent': async (subject) => {
    await rejectsWith('notFound', subject.connect(subject.freshName()));
  },

  'waits for an absent pipe when told to': async (subject) => {
    const name = subject.freshName();
    let tries = 0;
    let announce: () => void = () => undefined;
    const triedTwice = new Promise<void>((resolve) => (announce = resolve));
    const random = (): number => {
      tries += 1;
      if (tries === 2) announce();
      return 0.1;
    };
    const connecting = subject.connect(name, { waitTimeoutMs: 600_000, random });
    await triedTwice;
    await servedAs(name, subject, { onConnection: echo }, async () => {
      assert.equal(String(await exchange(await connecting, Buffer.from('at last'))), 'at last');
    });
  },

  'says notFound when the wait is over': async (subject) => {
    await rejectsWith('notFound', subject.connect(subject.freshName(), { waitTimeoutMs: 30 }));
  },

  'gives up waiting with the reason of the signal': async (subject) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const random = (): number => {
      controller.abort(reason);
      return 1;
    };
    const options = { waitTimeoutMs: 600_000, signal: controller.signal, random };
    await assert.rejects(subject.connect(subject.freshName(), options), (error) =>
      isAborted(error, reason),
    );
  },

  'does not begin when the signal is aborted already': async (subject) => {
    const reason = new Error('too late');
    const signal = AbortSignal.abort(reason);
    let accepted = 0;
    await served(subject, { onConnection: () => (accepted += 1) }, async (name) => {
      await assert.rejects(subject.connect(name, { signal }), (error) => isAborted(error, reason));
      assert.equal(accepted, 0);
    });
    const name = subject.freshName();
    await assert.rejects(subject.listen(name, { onConnection: echo, signal }), (error) =>
      isAborted(error, reason),
    );
    await rejectsWith('notFound', subject.connect(name));
  },

  'ends its connections and frees the name on close': async (subject) => {
    const name = subject.freshName();
    const listener = await subject.listen(name, { onConnection: echo });
    const client = await subject.connect(name);
    await exchange(client, Buffer.from('open'));
    const end = closed(client);
    await listener.close();
    assert.equal(listener.connectionCount, 0);
    await end;
    await rejectsWith('notFound', subject.connect(name));
    await servedAs(name, subject, { onConnection: echo }, async () => {
      await exchange(await subject.connect(name), Buffer.from('again'));
    });
  },

  'lets open connections end by themselves within the grace time': async (subject) => {
    const name = subject.freshName();
    const listener = await subject.listen(name, { onConnection: echo });
    const client = await subject.connect(name);
    await exchange(client, Buffer.from('open'));
    const closing = listener.close({ graceMs: 600_000 });
    await until(() => connectFails(subject, name));
    assert.equal(String(await exchange(client, Buffer.from('more'))), 'more');
    client.destroy();
    await closing;
  },

  'destroys what is still open after the grace time': async (subject) => {
    const name = subject.freshName();
    const listener = await subject.listen(name, { onConnection: echo });
    const client = await subject.connect(name);
    await exchange(client, Buffer.from('open'));
    const end = closed(client);
    await listener.close({ graceMs: 30 });
    await end;
  },

  'closes once however often it is told to': async (subject) => {
    const name = subject.freshName();
    const listener = await subject.listen(name, { onConnection: echo });
    await Promise.all([listener.close(), listener.close()]);
    await servedAs(name, subject, { onConnection: echo }, async () => {
      await listener.close();
      await exchange(await subject.connect(name), Buffer.from('unharmed'));
    });
  },

  'refuses text that names no local pipe': async (subject) => {
    for (const name of ['', '\\\\host\\pipe\\x', 'a\\b', 'a\0b'])
      await rejectsWith('invalidName', subject.connect(name));
    await rejectsWith('invalidName', subject.listen('..', { onConnection: echo }));
  },
};

const WITH_EXCLUSIVE_NAMES: Readonly<Record<string, Check>> = {
  'says inUse to a second listener and leaves the first one unharmed': async (subject) => {
    await served(subject, { onConnection: echo }, async (name) => {
      const client = await subject.connect(name);
      await exchange(client, Buffer.from('before'));
      await rejectsWith('inUse', subject.listen(name, { onConnection: echo }));
      await exchange(client, Buffer.from('after'));
      await exchange(await subject.connect(name), Buffer.from('new'));
    });
  },

  'lets exactly one of many simultaneous listeners have the name': async (subject) => {
    const name = subject.freshName();
    const attempts = Array.from({ length: 10 }, () => subject.listen(name, { onConnection: echo }));
    const outcomes = await Promise.allSettled(attempts);
    const winners = outcomes.flatMap((o) => (o.status === 'fulfilled' ? [o.value] : []));
    const codes = outcomes.flatMap((o) => (o.status === 'rejected' ? [codeOf(o.reason)] : []));
    try {
      assert.equal(winners.length, 1);
      assert.deepEqual(
        codes,
        Array.from({ length: 9 }, () => 'inUse'),
      );
      await exchange(await subject.connect(name), Buffer.from('winner'));
    } finally {
      await Promise.all(winners.map((winner) => winner.close()));
    }
  },
};

const WITH_HALF_CLOSE: Readonly<Record<string, Check>> = {
  'delivers the whole answer to a client that has ended its side': async (subject) => {
    const answer = randomBytes(4 * 1024 * 1024);
    const onConnection = (socket: Socket): void => {
      socket.once('data', () => socket.end(answer));
    };
    await served(subject, { onConnection }, async (name) => {
      const client = await subject.connect(name);
      client.end('question');
      assert.ok((await buffer(client)).equals(answer));
    });
  },
};

async function served(
  subject: PipeContractSubject,
  options: ListenPipeOptions,
  body: (name: string, listener: PipeListener) => Promise<void>,
): Promise<void> {
  await servedAs(subject.freshName(), subject, options, body);
}

async function servedAs(
  name: string,
  subject: PipeContractSubject,
  options: ListenPipeOptions,
  body: (name: string, listener: PipeListener) => Promise<void>,
): Promise<void> {
  const listener = await subject.listen(name, options);
  try {
    await body(name, listener);
  } finally {
    await listener.close();
  }
}

function echo(socket: Socket): void {
  socket.on('data', (chunk) => socket.write(chunk));
}

async function exchange(client: Socket, bytes: Buffer): Promise<Buffer> {
  const answer = received(client, bytes.length);
  client.write(bytes);
  return answer;
}

async function received(client: Socket, sizeBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const onData = (part: Buffer): void => {
      parts.push(part);
      if (parts.reduce((sum, { length }) => sum + length, 0) >= sizeBytes) end();
    };
    const onClose = (): void => reject(new Error('the connection closed before its answer'));
    const end = (): void => {
      client.off('data', onData).off('close', onClose);
      resolve(Buffer.concat(parts));
    };
    client.on('data', onData).on('close', onClose);
  });
}

async function closed(client: Socket): Promise<void> {
  client.resume();
  if (!client.closed) await new Promise((resolve) => client.once('close', resolve));
}

async function connectFails(subject: PipeContractSubject, name: string): Promise<boolean> {
  try {
    (await subject.connect(name)).destroy();
    return false;
  } catch {
    return true;
  }
}

/** Polls, because no event reports the condition. The runner's time limit bounds the wait. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 2));
}

function isAborted(error: unknown, reason: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && error.code === 'aborted' && error.cause === reason
  );
}

async function rejectsWith(code: PipeErrorCode, attempt: Promise<unknown>): Promise<void> {
  await assert.rejects(attempt, (error) => {
    assert.equal(codeOf(error), code, String(error));
    return true;
  });
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
