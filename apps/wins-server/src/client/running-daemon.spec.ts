import { adminPipeOf } from '@wins/base';
import { featureServiceDefinition } from '@wins/wins-api/contract';
import { status, type handleUnaryCall } from '@grpc/grpc-js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serveCalls } from '../testing/serve-calls.js';
import { callRunningDaemon } from './running-daemon.js';

it('a fault inside the daemon is told as such, not as a daemon that is not there', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-running-daemon-'));
  const server = path.join(folder, 'pipe');
  const read: handleUnaryCall<unknown, unknown> = (_call, done) =>
    done({ code: status.INTERNAL, details: 'it has no kind' });
  await using _daemon = await serveCalls(adminPipeOf(server), (calls) =>
    calls.addService(featureServiceDefinition, { read }),
  );
  const asked = callRunningDaemon({ server }, featureServiceDefinition.read, { facts: [] });
  await expect(asked).rejects.toMatchObject({
    message: expect.stringMatching(
      /^cannot ask the daemon on pipe .*: it failed: it has no kind/,
    ) as string,
    nextStep: 'see its log',
    exitCode: 70,
  });
  rmSync(folder, { recursive: true });
});
