import {
  Client,
  credentials,
  status,
  type ClientDuplexStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createReflection } from './feature.js';
import { CONTAINER } from '../../testing/client-identities.js';
import { serveCalls } from '../../testing/serve-calls.js';

const METHOD = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
/** Request for the list of services: field 7, a text. */
const LIST = Buffer.from([0x3a, 0x01, 0x2a]);

type Exchange = ClientDuplexStream<Buffer, Buffer>;

describe('reflection', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-reflection-'));
  const address = path.join(folder, 's');
  const clients: Client[] = [];
  let served: AsyncDisposable;

  beforeAll(async () => {
    served = await serveCalls(
      address,
      (server) => {
        const { definition, implementation } = createReflection();
        server.addService(definition, implementation);
      },
      undefined,
      CONTAINER,
    );
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await served[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  function connect(): Client {
    const client = new Client(`unix:${address}`, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
    });
    clients.push(client);
    return client;
  }
  const exchange = (client: Client, method = METHOD): Exchange =>
    client
      .makeBidiStreamRequest<Buffer, Buffer>(
        method,
        (bytes) => bytes,
        (bytes) => bytes,
      )
      .on('error', () => undefined);
  const failed = async (call: Exchange) => ((await once(call, 'error')) as [ServiceError])[0];

  it('loads its library by the first call', async () => {
    const isLoaded = () => Object.keys(require.cache).some((file) => /@grpc.reflection/.test(file));
    expect(isLoaded()).toBe(false);
    const call = exchange(connect());
    call.write(LIST);
    await once(call, 'data');
    expect(isLoaded()).toBe(true);
    call.cancel();
  });

  it.each([METHOD, METHOD.replace('v1', 'v1alpha')])(
    'tells which services there are: %s',
    async (method) => {
      const call = exchange(connect(), method);
      call.write(LIST);
      const [answer] = (await once(call, 'data')) as [Buffer];
      expect(answer.toString('latin1')).toContain('wins.ProcessService');
      call.end();
      call.resume();
      await once(call, 'end');
    },
  );

  it('answers every request of a client that reads late, in order', async () => {
    const call = exchange(connect());
    const REQUESTS = 100;
    // Field 4 is the name of a symbol. The answer repeats the name.
    for (let index = 0; index < REQUESTS; index += 1) {
      const name = Buffer.from(`no.such.symbol.${index}`);
      call.write(Buffer.concat([Buffer.from([0x22, name.length]), name]));
    }
    call.end();
    const answers: string[] = [];
    call.on('data', (answer: Buffer) => answers.push(answer.toString('latin1')));
    await once(call, 'end');
    expect(answers).toHaveLength(REQUESTS);
    for (const [index, answer] of answers.entries())
      expect(answer).toContain(`no.such.symbol.${index}`);
  });

  it('accepts as many streams of a client as its share allows', async () => {
    const client = connect();
    const streams = Array.from({ length: 8 }, () => exchange(client));
    for (const stream of streams) {
      stream.write(LIST);
      await once(stream, 'data');
    }
    expect((await failed(exchange(client))).code).toBe(status.RESOURCE_EXHAUSTED);
    for (const stream of streams) {
      stream.end();
      stream.resume();
      await once(stream, 'end');
    }
    const next = exchange(client);
    next.write(LIST);
    await once(next, 'data');
    next.cancel();
  });

  it('refuses a request that is longer than any name, and goes on for others', async () => {
    const client = connect();
    const call = exchange(client);
    call.write(Buffer.alloc(1025));
    await failed(call);
    const other = exchange(client);
    other.write(LIST);
    await once(other, 'data');
    other.cancel();
  });
});
