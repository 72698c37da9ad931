import { windowsFileTrust, windowsHostRoutes } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { startNetwork } from './start-network.js';

it('ends well for a network of containers that is gone already, and its record goes', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-network-'));
  const recordFile = path.join(folder, 'host-network.json');
  try {
    const route = { destination: '198.18.0.0/16', gateway: '', interface: '{gone}', metric: 9 };
    const items = [
      { kind: 'bridge', key: 'wins-subnet', value: '198.19.0.0/24 198.19.0.1' },
      { kind: 'forwarding', key: '{gone}', value: '1' },
    ].map((item) => ({ item, state: 'applied' }));
    const boot = windowsHostRoutes().bootMark();
    const routes = [{ route, state: 'applied' }];
    writeFileSync(recordFile, JSON.stringify({ format: 1, boot, items, routes }));
    await using started = await startNetwork(
      {
        recordFile,
        trust: windowsFileTrust(),
        beforeSteps: () => Promise.resolve(),
        onStatus: () => undefined,
        onSource: () => undefined,
        onWarning: () => undefined,
      },
      { routes: [], keep: [] },
    );
    const { problems } = await started.kept.teardown();
    assert.deepEqual([problems, existsSync(recordFile)], [[], false]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
