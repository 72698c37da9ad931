import { adminPipeOf } from '@wins/base';
import {
  featureServiceDefinition,
  type FeaturesReadRequest,
  type FeaturesReadResponse,
} from '@wins/wins-api/contract';
import { status, type handleUnaryCall } from '@grpc/grpc-js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rpcError } from '../kernel/rpc/rpc-errors.js';
import { serveCalls } from '../testing/serve-calls.js';
import { DaemonConnections } from './daemon-connections.js';
import { callRunningDaemon } from './running-daemon.js';

const NOTHING: FeaturesReadResponse = {
  configFile: '',
  pid: 0,
  startedAt: '',
  conditions: [],
  features: [],
  programFingerprint: '',
};

it.each([
  ['internal fault', { code: status.INTERNAL, details: 'it is broken' }],
  ['full disk', rpcError(status.UNAVAILABLE, 'auditUnavailable', 'it is broken')],
  ['busy feature', rpcError(status.RESOURCE_EXHAUSTED, 'busy', 'it is broken')],
])(
  'an answer of the daemon is told as such, not as a daemon that is not there: %s',
  async (_what, fault) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wins-running-daemon-'));
    const server = path.join(folder, 'pipe');
    const read: handleUnaryCall<unknown, unknown> = (_call, done) => done(fault);
    await using _daemon = await serveCalls(adminPipeOf(server), (calls) =>
      calls.addService(featureServiceDefinition, { read }),
    );
    const asked = callRunningDaemon({ server }, featureServiceDefinition.read, { facts: [] });
    await expect(asked).rejects.toMatchObject({
      message: expect.stringMatching(
        /^cannot ask the daemon on pipe .*: it failed: it is broken/,
      ) as string,
      nextStep: 'see its log',
      exitCode: 70,
    });
    rmSync(folder, { recursive: true });
  },
);

it('a daemon that refuses new work because it stops is told as one that ended', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-running-daemon-'));
  const server = path.join(folder, 'pipe');
  const read: handleUnaryCall<unknown, unknown> = (_call, done) =>
    done(rpcError(status.UNAVAILABLE, 'shuttingDown', 'the daemon is stopping'));
  await using _daemon = await serveCalls(adminPipeOf(server), (calls) =>
    calls.addService(featureServiceDefinition, { read }),
  );
  const asked = callRunningDaemon({ server }, featureServiceDefinition.read, { facts: [] });
  const message = expect.stringMatching(/: it ended; start it/) as string;
  await expect(asked).rejects.toMatchObject({ message, exitCode: 69 });
  rmSync(folder, { recursive: true });
});

it('questions can share a connection, until one of them fails', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-running-daemon-'));
  const server = path.join(folder, 'pipe');
  const peers: string[] = [];
  const read: handleUnaryCall<FeaturesReadRequest, FeaturesReadResponse> = (call, done) => {
    peers.push(call.getPeer());
    if (call.request.facts.length > 0) done({ code: status.INTERNAL, details: 'it is broken' });
    else done(null, NOTHING);
  };
  await using _daemon = await serveCalls(adminPipeOf(server), (calls) =>
    calls.addService(featureServiceDefinition, { read }),
  );
  await using connections = new DaemonConnections();
  const ask = (facts: string[]) =>
    callRunningDaemon({ server, connections }, featureServiceDefinition.read, { facts });
  await ask([]);
  await ask([]);
  await expect(ask(['host'])).rejects.toMatchObject({ exitCode: 70 });
  await ask([]);
  const [first, second, third, fourth] = peers;
  expect([second, third]).toEqual([first, first]);
  expect(fourth).not.toBe(first);
  rmSync(folder, { recursive: true });
});
