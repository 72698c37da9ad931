import { Client, credentials, Server, ServerCredentials } from '@grpc/grpc-js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { lazyService } from './lazy-service.js';

const METHOD = { path: '/test.Echo/Say', requestStream: false, responseStream: false };
const identity = (bytes: Buffer): Buffer => bytes;

describe('a service that is loaded lazily', () => {
  it('is loaded by its first call, once, and answers as if it had always been there', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wins-lazy-'));
    const address = `unix:${path.join(folder, 'socket')}`;
    const server = new Server();
    let loads = 0;
    const { definition: served, implementation } = lazyService([METHOD], (sink) => {
      loads += 1;
      const definition = {
        ...METHOD,
        requestSerialize: String,
        requestDeserialize: (bytes: Buffer) => bytes.toString(),
        responseSerialize: (text: string) => Buffer.from(text),
        responseDeserialize: String,
      };
      sink.addService({ Say: definition } as never, {
        Say: (call: { request: string }, respond: (error: null, text: string) => void) =>
          respond(null, `${call.request}!`),
      });
    });
    server.addService(served, implementation);
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(address, ServerCredentials.createInsecure(), (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
    expect(loads).toBe(0);
    const client = new Client(address, credentials.createInsecure());
    const say = (text: string) =>
      new Promise<string>((resolve, reject) => {
        client.makeUnaryRequest(
          METHOD.path,
          identity,
          identity,
          Buffer.from(text),
          (error, answer) => {
            if (error === null) resolve(String(answer));
            else reject(error);
          },
        );
      });
    expect(await say('one')).toBe('one!');
    expect(await say('two')).toBe('two!');
    expect(loads).toBe(1);
    client.close();
    server.forceShutdown();
    rmSync(folder, { recursive: true });
  });
});
