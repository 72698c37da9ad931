import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerReadableStream,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { failingCallbacks } from '@wins/base/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createWinsClient, type WinsClient, type WinsClientOptions } from './index.js';
import {
  applicationServiceDefinition,
  processServiceDefinition,
  runsDefinition,
} from './contract.js';

const NAME = { value: 'tool', runId: '00112233445566778899aabbccddeeff' };
const EXIT = { exitCode: 7, reason: 'exited' };
const INFO = { checksum: 'c0ffee', version: 'v1.2.3', commit: 'abc' };
const FOLLOWED = { follow: true, reconnectTimeoutMs: 10_000 };

describe('a call goes on when a callback fails:', () => {
  let folder: string;
  let server: Server;
  let reads: number;
  const clients: WinsClient[] = [];

  const client = (options: Partial<WinsClientOptions> = {}): WinsClient => {
    const made = createWinsClient({ address: path.join(folder, 's'), ...options });
    clients.push(made);
    return made;
  };

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-callbacks-'));
    reads = 0;
    server = new Server();
    const unary = (answer: object) => (_call: unknown, done: sendUnaryData<unknown>) =>
      done(null, answer);
    const start = unary({ data: NAME, warnings: ['one', 'two'], leaseMs: 60_000 });
    server.addService(applicationServiceDefinition, { info: unary({ info: INFO }) });
    server.addService(processServiceDefinition, {
      start,
      startExactly: start,
      keepAlive: (call: ServerReadableStream<unknown, unknown>, done: sendUnaryData<unknown>) =>
        call.resume().on('end', () => done(null, {})),
      wait: (call: ServerWritableStream<unknown, unknown>) => {
        call.write({ options: { $case: 'exit', value: EXIT } });
        call.end();
      },
    });
    server.addService(runsDefinition, {
      list: unary({ takenAtUs: 0, runs: [] }),
      read: (call: ServerWritableStream<unknown, unknown>) => {
        reads += 1;
        const end = { ...EXIT, endedAtMs: 0, outputBytes: 5 };
        if (reads > 1)
          call.write({ offset: 5, writtenAtMs: 0, options: { $case: 'end', value: end } });
        else
          call.write({
            offset: 0,
            writtenAtMs: 0,
            options: { $case: 'stdOut', value: Buffer.from('hello') },
          });
        call.end();
      },
    });
    await new Promise((resolve) => {
      const credentials = ServerCredentials.createInsecure();
      server.bindAsync(`unix:${path.join(folder, 's')}`, credentials, resolve);
    });
  });
  afterEach(async () => {
    for (const made of clients.splice(0)) await made.close();
    server.forceShutdown();
    rmSync(folder, { recursive: true });
  });

  const request = { path: '/bin/x', checksum: 'c0ffee' };

  it.each(
    failingCallbacks({
      'createWinsClient.onCallEvent': async (callback) => {
        expect(await client({ onCallEvent: callback }).info()).toEqual(INFO);
      },
      'startProcess.onWarning': async (callback) => {
        expect(await client().startProcess(request, { onWarning: callback })).toEqual(NAME);
      },
      'startProcess.onLease': async (callback) => {
        expect(await client().startProcess(request, { onLease: callback })).toEqual(NAME);
      },
      'run.onWarning': async (callback) => {
        const run = await client().run({ path: process.execPath, onWarning: callback });
        expect(await run.exit).toMatchObject({ exitCode: 7 });
      },
      'runs.start.onWarning': async (callback) => {
        const options = { path: process.execPath, onWarning: callback };
        expect(await client().runs.start(options)).toBe(NAME.value);
      },
      'runs.read.onDaemonChange': async (callback) => {
        const options = { ...FOLLOWED, onDaemonChange: callback };
        const parts: unknown[] = [];
        for await (const part of client().runs.read('web', options)) parts.push(part);
        expect(parts).toMatchObject([
          { stream: 'stdout', bytes: Buffer.from('hello') },
          { stream: 'end', exitCode: 7 },
        ]);
      },
    }),
  )('%s', (_name, play) => play());
});
