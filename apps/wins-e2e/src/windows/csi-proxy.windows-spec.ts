import { serviceControlManager } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until, WindowsWorkspace } from './windows-workspace.js';

describe('the daemon whose config wants csi-proxy', () => {
  const workspace = new WindowsWorkspace();
  const services = serviceControlManager();

  before(() => {
    // Refuse to run on a node with the real service.
    assert.throws(() => services.status('csiproxy'), { code: 'notFound' });
  });
  after(() => workspace.remove());

  it('looks at the service, tries to fetch it, and serves whatever comes of it', async () => {
    const config = workspace.config([], [], {
      'csi-proxy': {
        // Nothing listens on port 1.
        url: 'https://127.0.0.1:1/csi-proxy-%[1]s.tar.gz?sig=canary',
        version: 'v1.1.3',
        kubeletPath: 'C:/bin/kubelet.exe',
      },
    });
    const daemon = workspace.start('srv', 'app', 'run', '--config', config);
    await until(() => /"state":"fetching"/.test(daemon.stderr()));
    const { code, stderr } = await workspace.client('app', 'info').outcome;
    assert.equal(code, 0, stderr);
    assert.throws(() => services.status('csiproxy'), { code: 'notFound' });
    assert.ok(!daemon.stderr().includes('canary'));
  });
});
