import { FLAG, FRAME, FrameClient } from '@wins/http2-connection/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EVERYBODY, type ClientIdentity } from '@wins/base';
import { createCallServer } from './call-server.js';
import { CONTAINER } from '../../testing/client-identities.js';
import { serveCalls } from '../../testing/serve-calls.js';

const HANG = '/x.Y/Hang';

describe('the calls of one client', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-connections-'));
  const address = path.join(folder, 's');
  const clients: FrameClient[] = [];
  let served: AsyncDisposable;
  afterEach(async () => {
    for (const client of clients.splice(0)) client[Symbol.dispose]();
    await served[Symbol.asyncDispose]();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function serve(client: ClientIdentity): Promise<void> {
    const bytes = (value: unknown): Buffer => value as Buffer;
    const method = { path: HANG, requestStream: true, responseStream: true } as const;
    const codec = { requestSerialize: bytes, responseSerialize: bytes };
    const hang = {
      ...method,
      ...codec,
      requestDeserialize: bytes,
      responseDeserialize: bytes,
    };
    served = await serveCalls(
      address,
      (server) => server.addService({ hang }, { hang: () => undefined }),
      undefined,
      client,
    );
  }
  async function connection(): Promise<FrameClient> {
    const client = await FrameClient.connect(address);
    clients.push(client);
    await client.greet();
    return client;
  }
  async function call(count: number): Promise<FrameClient[]> {
    const made: FrameClient[] = [];
    for (let left = count; left > 0; left -= 256) {
      const client = await connection();
      for (let index = 0; index < Math.min(left, 256); index += 1) {
        client.headers(1 + 2 * index, FLAG.endHeaders, client.block(HANG));
      }
      await client.ping('called');
      made.push(client);
    }
    return made;
  }
  const answers = ({ frames }: FrameClient) => frames.filter(({ type }) => type === FRAME.headers);

  it('are its share over all of its connections, and again as many as have ended', async () => {
    await serve(CONTAINER);
    const [first, second] = await call(512);
    expect(clients.flatMap(answers)).toEqual([]);
    const [third] = (await call(1)) as [FrameClient];
    const [refusal] = answers(third);
    expect(refusal && third.decode(refusal)).toMatchObject({ 'grpc-status': '8' });

    const gone = first?.closed;
    first?.[Symbol.dispose]();
    await gone;
    // When the server answers this ping, it has noticed that the first connection ended.
    await second?.ping('later');
    const [fourth] = (await call(1)) as [FrameClient];
    expect(answers(fourth)).toEqual([]);
  });

  it('have no quota where clients cannot be told apart', async () => {
    await serve(EVERYBODY);
    await call(600);
    expect(clients.flatMap(answers)).toEqual([]);
  });
});

describe('a call whose beginning throws', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-connections-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('ends its connection, with an error in the log, and no other', async () => {
    const address = path.join(folder, 's');
    const calls = createCallServer();
    const failing = {
      ...calls,
      serve: (...[stream, headers]: Parameters<typeof calls.serve>) => {
        if (headers[':path'] === HANG) throw new Error('no call may do that');
        calls.serve(stream, headers);
      },
    };
    let log = '';
    const write = (line: string): void => void (log += line);
    await using _served = await serveCalls(address, () => undefined, write, CONTAINER, failing);
    using other = await FrameClient.connect(address);
    await other.greet();
    using client = await FrameClient.connect(address);
    await client.greet();
    client.headers(1, FLAG.endHeaders, client.block(HANG));
    await client.closed;
    expect(log).toContain('no call may do that');
    expect(log).toContain('"peer":"pipe:2"');

    other.headers(1, FLAG.endHeaders | FLAG.endStream, other.block('/x.Y/Z'));
    await other.ping('still');
    const [answer] = other.frames.filter(({ type }) => type === FRAME.headers);
    expect(answer && other.decode(answer)).toMatchObject({ 'grpc-status': '12' });
  });
});
