import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runInThisContext } from 'node:vm';
import { serveHttp2Connection, type Http2ConnectionOptions } from './serve-http2-connection.js';
import { echo, FLAG, FRAME, FrameClient, grpcMessage } from './testing/index.js';

/** Serves one connection, and lets `use` play its client. Resolves once the connection has ended. */
async function serve(
  options: Partial<Http2ConnectionOptions>,
  use: (client: FrameClient) => Promise<unknown>,
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-callbacks-'));
  const server = createServer().listen(path.join(folder, 's'));
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const client = await FrameClient.connect(path.join(folder, 's'));
  const [socket] = (await accepted) as [Socket];
  const peer = { remoteAddress: 'pipe', remotePort: 1 };
  const connection = serveHttp2Connection(socket, { peer, onStream: echo, ...options });
  await use(client);
  client[Symbol.dispose]();
  await connection.closed;
  server.close();
  rmSync(folder, { recursive: true });
}

async function call(client: FrameClient): Promise<void> {
  await client.greet();
  client.headers(1);
  client.send(FRAME.data, FLAG.endStream, 1, grpcMessage('hello'));
  const { payload } = await client.received(({ type }) => type === FRAME.data);
  expect(payload).toEqual(grpcMessage('hello'));
}

function unserved(): never {
  throw new Error('no handler');
}

async function callInVain(client: FrameClient): Promise<void> {
  await client.greet();
  client.headers(1);
  expect(await client.goaway()).toBe('failed');
}

type Callback = () => unknown;

const error = new Error('the log of the caller is full');
const FAILURES: readonly (readonly [string, Callback])[] = [
  [
    'throws',
    () => {
      throw error;
    },
  ],
  ['rejects', () => Promise.reject(error)],
];
const OPERATIONS: readonly (readonly [string, (callback: Callback) => Promise<void>])[] = [
  ['onGreeted', (callback) => serve({ onGreeted: callback }, call)],
  ['onEnd', (callback) => serve({ onEnd: callback }, call)],
  ['onFailure', (callback) => serve({ onStream: unserved, onFailure: callback }, callInVain)],
];
const CASES = OPERATIONS.flatMap(([name, operation]) =>
  FAILURES.map(([how, fail]) => [name, how, () => operation(fail)] as const),
);

it.each(CASES)('a connection serves on when its %s %s, and warns', async (_name, _how, play) => {
  // The `process` of a spec is a copy by Jest, which gets no events.
  const observed = runInThisContext('process') as NodeJS.Process;
  // Node's own listener would write the warning to stderr.
  const before = observed.listeners('warning');
  for (const listener of before) observed.off('warning', listener);
  const warned = once(observed, 'warning');
  await play();
  expect(await warned).toMatchObject([{ code: 'WINS_CALLBACK_FAILED' }]);
  for (const listener of before) observed.on('warning', listener);
});

it.each(FAILURES)(
  'a connection ends, and reports the error, when its receiver of streams %s',
  async (_how, onStream) => {
    const failures: unknown[] = [];
    const onFailure = (failure: unknown) => failures.push(failure);
    await serve({ onStream, onFailure }, callInVain);
    expect(failures).toEqual([error]);
  },
);

it.each([
  [
    'resets its stream',
    async (client: FrameClient) => {
      await client.greet();
      client.headers(1);
      client.send(FRAME.rstStream, 0, 1, Buffer.from([0, 0, 0, 8]));
      client.headers(3);
      client.send(FRAME.data, FLAG.endStream, 3, grpcMessage('hello'));
      await client.received(({ type, streamId }) => type === FRAME.data && streamId === 3);
    },
  ],
  [
    'leaves',
    async (client: FrameClient) => {
      await client.greet();
      client.headers(1);
    },
  ],
])('an async receiver of a client that %s is no failure', async (_name, use) => {
  const failures: unknown[] = [];
  const onFailure = (failure: unknown) => failures.push(failure);
  const onStream: Http2ConnectionOptions['onStream'] = async (stream) => {
    const messages: unknown[] = [];
    for await (const message of stream) messages.push(message);
    stream.respond({ ':status': 200, 'content-type': 'x' }, { waitForTrailers: true });
    for (const message of messages) stream.write(message);
    stream.end();
  };
  await serve({ onStream, onFailure }, use);
  expect(failures).toEqual([]);
});
