import { EVERYBODY } from '@wins/base';
import { createWinsClient } from '@wins/wins-api';
import { statusServiceDefinition } from '@wins/wins-api/contract';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { problem } from '../../kernel/conditions/condition.js';
import type { Kernel } from '../../kernel/feature.js';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { serveCalls } from '../../testing/serve-calls.js';
import { status } from './feature.js';

const LOST = {
  ...problem('plan', 'planLost', 'it is gone', 'find it'),
  source: 'agent',
  since: '2026-03-01T12:00:00.000Z',
};

describe('the state of the daemon', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-status-service-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let lastSocket = 0;

  async function ask(isAdministrator: boolean) {
    lastSocket += 1;
    const address = path.join(folder, `socket-${lastSocket}`);
    const config = { inForce: () => ({ path: '/etc/config' }) } as Kernel['config'];
    const kernel = { ...kernelOf(), config, conditions: () => [LOST] };
    const [service] = status.services?.(new FeatureSwitch(status, kernel), kernel) ?? [];
    await using _server = await serveCalls(
      address,
      (server, callers) =>
        server.addService(statusServiceDefinition, service?.implement(callers) ?? {}),
      undefined,
      { ...EVERYBODY, isAdministrator },
    );
    await using daemon = createWinsClient({ address });
    return await daemon.call(statusServiceDefinition.read, {});
  }

  it('has the process, the config and each condition with its time', async () => {
    const answer = await ask(true);
    expect(answer).toMatchObject({
      configFile: '/etc/config',
      pid: process.pid,
      conditions: [
        {
          check: 'plan',
          code: 'planLost',
          level: 'problem',
          found: 'it is gone',
          advice: 'find it',
          since: LOST.since,
        },
      ],
    });
    expect(Date.parse(answer.startedAt)).toBeLessThanOrEqual(Date.now());
  });

  it('is for administrators alone, because it names runs and hosts of all clients (A94)', async () => {
    await expect(ask(false)).rejects.toMatchObject({ reason: 'notAdministrator' });
  });
});
