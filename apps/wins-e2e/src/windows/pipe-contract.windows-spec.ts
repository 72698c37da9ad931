import * as grpc from '@grpc/grpc-js';
import { connectPipe, listenPipe, resolvePipePath } from '@wins/pipe-transport';
import { pipeContract } from '@wins/pipe-transport/testing';
import { securedPipe, securedPipeClient } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';

let count = 0;
const freshName = (): string => `wins-contract-${process.pid}-${(count += 1)}`;
const isWine = process.env['WINEPREFIX'] !== undefined;
const security = securedPipe();

describe('a named pipe under the contract of pipes', () => {
  const contract = pipeContract({
    listen: (name, options) => listenPipe(name, { security, ...options }),
    connect: (name, options) => connectPipe(name, options),
    freshName,
    halfClose: false,
    // Wine lacks the flag that reserves the name of a pipe for one server.
    exclusiveNames: !isWine,
  });
  for (const [name, check] of contract) it(name, check);
});

describe('a named pipe whose server is checked, under the contract of pipes', () => {
  const client = securedPipeClient();
  const contract = pipeContract({
    listen: (name, options) => listenPipe(name, { security, ...options }),
    connect: (name, options) => connectPipe(name, { security: client, ...options }),
    freshName,
    halfClose: false,
    exclusiveNames: !isWine,
  });
  for (const [name, check] of contract) it(name, check);
});

describe('protocols over a secured pipe', () => {
  it('gRPC calls once and in streams, from many clients at once', async () => {
    const service = {
      echo: method('/test.Echo/Echo', false),
      repeat: method('/test.Echo/Repeat', true),
    };
    const server = new grpc.Server();
    server.addService(service, {
      echo: (
        call: grpc.ServerUnaryCall<Buffer, Buffer>,
        answer: grpc.sendUnaryData<Buffer>,
      ): void => answer(null, call.request),
      repeat: (call: grpc.ServerWritableStream<Buffer, Buffer>): void => {
        for (let index = 0; index < 5; index += 1) call.write(call.request);
        call.end();
      },
    });
    const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
    const name = freshName();
    const onConnection = injector.injectConnection.bind(injector);
    const listener = await listenPipe(name, { security, onConnection });
    const { address } = resolvePipePath(name);
    const Client = grpc.makeGenericClientConstructor(service, 'test.Echo');
    const text = Buffer.alloc(100_000, 'x');
    const run = async (): Promise<void> => {
      const options = { 'grpc.use_local_subchannel_pool': 1 };
      const client = new Client(`unix:${address}`, grpc.credentials.createInsecure(), options);
      const answer = await new Promise<Buffer | undefined>((resolve, reject) => {
        client.makeUnaryRequest<Buffer, Buffer>(
          '/test.Echo/Echo',
          same,
          same,
          text,
          (error, found) => (error ? reject(error) : resolve(found)),
        );
      });
      assert.ok(answer?.equals(text));
      let answers = 0;
      const stream = client.makeServerStreamRequest<Buffer, Buffer>(
        '/test.Echo/Repeat',
        same,
        same,
        text,
      );
      for await (const part of stream as AsyncIterable<Buffer>) {
        assert.ok(part.equals(text));
        answers += 1;
      }
      assert.equal(answers, 5);
      client.close();
    };
    await Promise.all(Array.from({ length: 12 }, run));
    server.forceShutdown();
    await listener.close();
  });

  it('WebSocket carries text and large messages', async () => {
    const http = createServer();
    const sockets = new WebSocketServer({ server: http });
    sockets.on('connection', (socket) => {
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
    });
    const name = freshName();
    const listener = await listenPipe(name, {
      security,
      onConnection: (connection) => http.emit('connection', connection),
    });
    const { address } = resolvePipePath(name);
    const client = new WebSocket('ws://localhost/', { createConnection: () => connect(address) });
    await once(client, 'open');
    for (const data of [Buffer.from('text'), Buffer.alloc(300_000, 'y')]) {
      client.send(data);
      const [answer] = (await once(client, 'message')) as [Buffer];
      assert.ok(answer.equals(data));
    }
    const closed = once(client, 'close');
    client.close(1000);
    assert.equal((await closed)[0], 1000);
    sockets.close();
    await listener.close();
  });
});

function same(bytes: Buffer): Buffer {
  return bytes;
}

function method(path: string, responseStream: boolean): grpc.MethodDefinition<Buffer, Buffer> {
  const convert = {
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
  return { path, requestStream: false, responseStream, ...convert };
}
