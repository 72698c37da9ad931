import { EVERYBODY } from '@wins/base';
import { createWinsClient } from '@wins/wins-api';
import { metricsServiceDefinition } from '@wins/wins-api/contract';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { kernelOf } from '../../testing/kernel-of.js';
import { serveCalls } from '../../testing/serve-calls.js';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import { metricsFeature } from './feature.js';

describe('the metrics over the pipe', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-metrics-service-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let lastSocket = 0;

  async function ask(isAdministrator: boolean, text?: string): Promise<string> {
    lastSocket += 1;
    const address = path.join(folder, `socket-${lastSocket}`);
    const feature = metricsFeature(() => ({
      startMetrics: () => ({
        scrape: () => Promise.resolve(text ?? ''),
        close: () => Promise.resolve(),
      }),
    }));
    const view = new FeatureSwitch(feature, kernelOf());
    const settings = { listen: '127.0.0.1:9797', allowRemote: false };
    view.apply(text === undefined ? { reason: 'there is no section' } : settings);
    const [service] = feature.services?.(view, kernelOf()) ?? [];
    const client = { ...EVERYBODY, isAdministrator };
    await using _server = await serveCalls(
      address,
      (server, callers) =>
        server.addService(metricsServiceDefinition, service?.implement(callers) ?? {}),
      undefined,
      client,
    );
    await using daemon = createWinsClient({ address });
    return (await daemon.call(metricsServiceDefinition.scrape, {})).text;
  }

  it('are what a scrape gives', async () => {
    expect(await ask(true, 'wins_handles 1\n')).toBe('wins_handles 1\n');
  });

  it.each([undefined, 'secret'])('are for administrators alone (A94)', async (text) => {
    await expect(ask(false, text)).rejects.toMatchObject({ reason: 'notAdministrator' });
  });

  it('say that they are off, and what turns them on', async () => {
    await expect(ask(true)).rejects.toMatchObject({
      code: 'failedPrecondition',
      reason: 'metricsOff',
      details: expect.stringMatching(/disabled.*set metrics\.listen in the config/) as string,
    });
  });
});
