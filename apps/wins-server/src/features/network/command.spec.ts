import { status, type handleUnaryCall } from '@grpc/grpc-js';
import { adminPipeOf } from '@wins/base';
import { featureServiceDefinition, type FeatureChangeResponse } from '@wins/wins-api/contract';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serveCalls } from '../../testing/serve-calls.js';
import { applyNetwork } from './command.js';

it('a change of the network that was made is told as such, even if the daemon then tells no conditions', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-network-command-'));
  const server = path.join(folder, 'pipe');
  const change: handleUnaryCall<unknown, FeatureChangeResponse> = (_call, done) => {
    const facts = { state: 'settled', down: false, routes: [], orphans: [], problems: [] };
    const network = { ...facts, sources: [] };
    const features = [{ name: 'network', on: true, reason: '', facts: JSON.stringify(network) }];
    done(null, { features });
  };
  const read: handleUnaryCall<unknown, unknown> = (_call, done) =>
    done({ code: status.INTERNAL, details: 'it is busy' });
  await using _daemon = await serveCalls(adminPipeOf(server), (calls) =>
    calls.addService(featureServiceDefinition, { change, read }),
  );
  const answer = await applyNetwork({ server });
  expect(answer).toMatchObject({ exitCode: 0, value: { state: 'settled' } });
  expect(answer.text).toContain('cannot determine what is not well');
  expect(answer.text).toContain('it is busy');
  rmSync(folder, { recursive: true });
});
