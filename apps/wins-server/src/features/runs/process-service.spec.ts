import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import type { ClientIdentity } from '@wins/base';
import {
  createProcessManager,
  DetachedRuns,
  LocalTree,
  markOf,
  SpoolLog,
} from '@wins/process-manager';
import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixProcessHost } from '../../posix.js';
import { CONTAINER } from '../../testing/client-identities.js';
import { serveCalls } from '../../testing/serve-calls.js';
import { createProcessService, servedProcessDefinition } from './process-service.js';

const OTHER: ClientIdentity = { ...CONTAINER, key: 'container:other' };

describe('a run of the daemon before this one', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-runs-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is held by its client alone, through its id, and ends with that client', async () => {
    const host = posixProcessHost();
    const runId = 'a'.repeat(32);
    const mark = markOf(runId);
    const started = await host.start({
      mark,
      lineage: 'l',
      file: '/bin/sleep',
      argv0: 'sleep',
      args: ['60'],
      env: {},
      directory: '/',
      mayBreakAway: false,
    });
    await using manager = createProcessManager({ allowed: [], host, stateDirectory: folder });
    const never = () => Promise.reject(new Error('no keeper is wanted'));
    const detached = new DetachedRuns(manager, {
      stateDirectory: folder,
      host,
      keepers: { release: '1', start: never, transport: { connect: never, listen: never } },
    });
    const facts = { mark, path: '/bin/sleep', entry: 'sleep', stagedPath: '/bin/sleep' };
    const run = manager.adopt(
      { ...facts, name: 'rancher-wins-sleep', sha256: 'd' },
      new LocalTree(started, {
        supervisor: host.daemon,
        graceMs: 10_000,
        log: (source) => new SpoolLog({ folder, maxBytes: 2 ** 20 }, source),
      }),
      { id: 'detached:x', absentClient: CONTAINER, disconnected: new AbortController().signal },
      'lease',
    );
    let sockets = 0;
    const as = async <T>(client: ClientIdentity, ask: (daemon: WinsClient) => Promise<T>) => {
      const address = path.join(folder, `socket-${(sockets += 1)}`);
      await using _calls = await serveCalls(
        address,
        (server, connections) =>
          server.addService(
            servedProcessDefinition,
            createProcessService(() => ({ manager, detached }), connections),
          ),
        undefined,
        client,
      );
      await using daemon = createWinsClient({ address });
      return await ask(daemon);
    };
    const hold = (daemon: WinsClient, runId: string) =>
      daemon.keepAlive({ value: run.name, runId });
    for (const [client, id, code] of [
      [OTHER, runId, 'refused'],
      [CONTAINER, '', 'refused'],
      [CONTAINER, 'b'.repeat(32), 'notFound'],
    ] as const)
      await as(client, (daemon) => expect(hold(daemon, id).closed).rejects.toMatchObject({ code }));
    await as(CONTAINER, (daemon) => hold(daemon, runId).end());
    expect(await run.ended).toMatchObject({ signal: 'SIGTERM', reason: 'leaseEnded' });
  });
});

describe('a start request', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-starts-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['start', '1200'.repeat(500_000), 'too many fields'],
    ['startExactly', 'f80101', 'parts that this daemon does not know'],
  ] as const)(
    'of the call %s that cannot be decoded is refused with its reason (A50)',
    async (name, hex, reason) => {
      const address = path.join(folder, name);
      await using _calls = await serveCalls(address, (server, connections) =>
        server.addService(
          servedProcessDefinition,
          createProcessService(() => {
            throw new Error('no run is wanted');
          }, connections),
        ),
      );
      const client = new Client(`unix:${address}`, credentials.createInsecure());
      const error = await new Promise<ServiceError | null>((resolve) => {
        const octets = (bytes: Buffer) => bytes;
        const { path: method } = servedProcessDefinition[name];
        client.makeUnaryRequest(method, octets, octets, Buffer.from(hex, 'hex'), resolve);
      });
      client.close();
      expect(error).toMatchObject({ details: expect.stringContaining(reason) as string });
    },
  );
});
