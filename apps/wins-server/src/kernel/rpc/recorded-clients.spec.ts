import { Metadata, status, type Server } from '@grpc/grpc-js';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { RunExposeProtocol } from '@wins/wins-api';
import {
  applicationServiceDefinition,
  hnsServiceDefinition,
  hostServiceDefinition,
  networkServiceDefinition,
  processServiceDefinition,
  ProcessWaitResponse,
  routeServiceDefinition,
  type ApplicationServiceServer,
  type HnsServiceServer,
  type HostServiceServer,
  type NetworkServiceServer,
  type ProcessKeepAliveRequest,
  type ProcessServiceServer,
  type ProcessStartRequest,
  type RouteServiceServer,
} from '@wins/wins-api/contract';
import {
  AnswerReader,
  messagesOf,
  recordedClient,
  type Answer,
  type RecordedCommand,
} from '@wins/wins-api/testing';
import { serveCalls } from '../../testing/serve-calls.js';

const NAME = { value: 'rancher-wins-ngin', runId: '' };

class Host {
  readonly starts: ProcessStartRequest[] = [];
  readonly kept: ProcessKeepAliveRequest[] = [];
  readonly peers = new Set<string>();
  startError: { code: status; details: string; metadata: Metadata } | undefined;
  #served: AsyncDisposable | undefined;
  #directory = '';

  async listen(): Promise<string> {
    this.#directory = await mkdtemp(path.join(os.tmpdir(), 'wins-server-'));
    const address = path.join(this.#directory, 's');
    this.#served = await serveCalls(address, (server) => this.#addServices(server));
    return address;
  }

  async close(): Promise<void> {
    await this.#served?.[Symbol.asyncDispose]();
    await rm(this.#directory, { recursive: true });
  }

  #addServices(server: Server): void {
    const application: ApplicationServiceServer = {
      info: (call, done) => {
        this.peers.add(call.getPeer());
        done(null, { info: { checksum: 'c0ffee', version: 'v1.2.3', commit: 'abc' } });
      },
    };
    const processes: ProcessServiceServer = {
      start: (call, done) => {
        this.starts.push(call.request);
        done(this.startError ?? null, { data: NAME, warnings: [], leaseMs: 0 });
      },
      // No recorded client calls this method.
      startExactly: (_call, done) => done(null, { warnings: [], leaseMs: 0 }),
      updateFile: (_call, done) => done(null, {}),
      wait: (call) => {
        call.write({ options: { $case: 'stdOut', value: Buffer.from('out\n') } });
        call.write({ options: { $case: 'stdErr', value: Buffer.from('err\n') } });
        call.end();
      },
      keepAlive: (call, done) => {
        call.on('data', (request: ProcessKeepAliveRequest) => this.kept.push(request));
        call.on('end', () => done(null, {}));
      },
    };
    const hns: HnsServiceServer = {
      getNetwork: (call, done) => {
        const details = `no network like ${JSON.stringify(call.request)}`;
        done({ code: status.NOT_FOUND, details });
      },
    };
    const host: HostServiceServer = {
      getVersion: (_call, done) => done(null, { data: undefined }),
    };
    const network: NetworkServiceServer = { get: (_call, done) => done(null, { data: undefined }) };
    const route: RouteServiceServer = {
      add: (call, done) => {
        this.peers.add(call.request.addresses.join());
        done(null, {});
      },
      list: (_call, done) => done(null, { data: [] }),
      remove: (_call, done) => done(null, {}),
    };
    server.addService(applicationServiceDefinition, application);
    server.addService(processServiceDefinition, processes);
    server.addService(hnsServiceDefinition, hns);
    server.addService(hostServiceDefinition, host);
    server.addService(networkServiceDefinition, network);
    server.addService(routeServiceDefinition, route);
  }
}

describe('a Go client of release 0.1.1, as recorded', () => {
  let host: Host;
  let address: string;
  let open: { destroy(): void }[];

  beforeEach(async () => {
    host = new Host();
    address = await host.listen();
    open = [];
  });

  afterEach(async () => {
    for (const item of open) item.destroy();
    await host.close();
  });

  /** Sends the recorded octets in pieces, and collects the answers on `streams`. */
  async function replay(
    name: RecordedCommand,
    streams: number[],
    size = Infinity,
  ): Promise<Answer[]> {
    const half = recordedClient(name);
    const reader = new AnswerReader(streams);
    const socket = net.connect(address);
    open.push(socket, { destroy: () => reader.close() });
    socket.on('data', (chunk) => reader.feed(chunk));
    await once(socket, 'connect');
    for (let at = 0; at < half.length; at += size) {
      const piece = half.subarray(at, Math.min(half.length, at + size));
      await new Promise((resolve) => socket.write(piece, resolve));
    }
    return Promise.all(streams.map((id) => reader.ended(id)));
  }

  it('gets the answer to app info', async () => {
    const [answer] = await replay('app-info', [1]);
    expect(answer?.status).toBe(0);
    const info = applicationServiceDefinition.info.responseDeserialize(
      messagesOf(answer?.body ?? Buffer.alloc(0))[0] ?? Buffer.alloc(0),
    );
    expect(info.info).toEqual({ checksum: 'c0ffee', version: 'v1.2.3', commit: 'abc' });
  });

  it('gets the same answer when its octets come one by one', async () => {
    const [answer] = await replay('app-info', [1], 1);
    expect(answer?.status).toBe(0);
    expect(answer?.body.length).toBeGreaterThan(5);
  });

  it('is known to the handlers by the identity of its connection', async () => {
    await replay('app-info', [1]);
    expect([...host.peers]).toEqual(['pipe:1']);
  });

  it('runs a process: Start, KeepAlive and Wait on one connection', async () => {
    const [started, kept, waited] = await replay('prc-run', [1, 3, 5]);
    expect(host.starts).toEqual([
      expect.objectContaining({
        checksum: '2ec149a0d9f79dacc7c195b704afe20005564389',
        path: String.raw`C:\etc\nginx\nginx.exe`,
        args: [String.raw`C:\t.js`, 'a', '"b c"', '--x=1'],
        envs: ['FOO=bar'],
        dir: String.raw`C:\etc\nginx`,
        exposes: [
          { port: 80, protocol: RunExposeProtocol.TCP },
          { port: 53, protocol: RunExposeProtocol.UDP },
          { port: 54, protocol: RunExposeProtocol.UDP },
        ],
      }),
    ]);
    expect(started?.status).toBe(0);
    const name = processServiceDefinition.start.responseDeserialize(
      messagesOf(started?.body ?? Buffer.alloc(0))[0] ?? Buffer.alloc(0),
    );
    expect(name.data).toEqual(NAME);
    expect(host.kept).toEqual([{ data: NAME }]);
    expect(kept).toEqual({ status: 0, message: 'OK', body: Buffer.alloc(5) });
    expect(waited?.status).toBe(0);
    expect(
      messagesOf(waited?.body ?? Buffer.alloc(0)).map((message) =>
        ProcessWaitResponse.decode(message),
      ),
    ).toEqual([
      { options: { $case: 'stdOut', value: Buffer.from('out\n') } },
      { options: { $case: 'stdErr', value: Buffer.from('err\n') } },
    ]);
  });

  it('is refused in the words that it knows', async () => {
    host.startError = {
      code: status.INVALID_ARGUMENT,
      details: 'invalid path',
      metadata: new Metadata(),
    };
    const [answer] = await replay('prc-run-denied', [1]);
    expect(answer).toEqual({ status: 3, message: 'invalid path', body: Buffer.alloc(0) });
    expect(host.starts[0]?.path).toBe(String.raw`C:\windows\system32\cmd.exe`);
  });

  it.each<[RecordedCommand, number]>([
    ['host-get-version', 0],
    ['network-get', 0],
    ['route-add', 0],
    ['hns-get-network-error', 5],
  ])('gets the answer to %s with status %i', async (name, expected) => {
    const [answer] = await replay(name, [1]);
    expect(answer?.status).toBe(expected);
  });
});
