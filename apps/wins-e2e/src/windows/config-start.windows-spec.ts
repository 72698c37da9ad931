import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { until, WindowsWorkspace } from './windows-workspace.js';

const BASE = 'D:P(A;;GA;;;BA)(A;;GA;;;SY)';
const SERVICE = 'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464';
const ACCEPTED = [
  BASE,
  `O:BA${BASE}`,
  `O:SYG:SY${BASE}`,
  'D:(A;;GA;;;SY)(A;;GA;;;BA)',
  `${BASE}(A;;0x12019b;;;S-1-5-21-1-2-3-1001)`,
  `${BASE}(A;;0x12019b;;;${SERVICE})`,
  `${BASE}(A;;GRGW;;;AU)`,
  'D:P(D;;GA;;;BG)(A;;GA;;;SY)(A;;GA;;;BA)(A;;GA;;;WD)',
];
const REFUSED = ['Everyone', 'BUILTIN\\Users', '(A;;GA;;;BA)', 'D:P(A;;GA;;;XX)', 'O:BA', 'D:'];

describe('the config of a daemon on Windows', () => {
  const workspace = new WindowsWorkspace();
  const tool = workspace.program('tool');
  after(() => workspace.remove());
  const serve = async (config: string) => {
    const daemon = workspace.start('srv', 'app', 'run', '--config', config);
    await daemon.said('"msg":"ready"');
    return daemon;
  };

  it('starts a daemon with each access list that the check accepts', async () => {
    for (const pipeAccess of ACCEPTED) {
      const config = workspace.config([tool], [], { pipeAccess });
      const { code, stderr } = await workspace.run('srv', 'config', 'check', '--config', config);
      assert.equal(code, 0, stderr);
      const daemon = await serve(config);
      daemon.child.kill('SIGKILL');
      await daemon.outcome;
    }
  });

  it('is refused by the check with each that is none', async () => {
    for (const pipeAccess of REFUSED) {
      const config = workspace.config([tool], [], { pipeAccess });
      const { code, stderr } = await workspace.run('srv', 'config', 'check', '--config', config);
      assert.equal(code, 78, pipeAccess);
      assert.match(stderr, /pipeAccess: found /);
    }
  });

  it('is the one before it when the file cannot be used, which is private and goes on serving', async () => {
    const config = workspace.config([tool]);
    const first = await serve(config);
    const kept = `${config}.last-good\\config`;
    await until(() => existsSync(kept));
    first.child.kill('SIGKILL');
    await first.outcome;
    workspace.config([tool], [], { pipeAccess: 'Everyone' });
    const second = await serve(config);
    assert.match(second.stderr(), /the daemon starts with the previous config/);
    const info = await workspace.client('app', 'info').outcome;
    assert.equal(info.code, 0, info.stderr);
    const { stdout } = await workspace.run('doctor', '--config', config);
    assert.match(String(stdout), /^problem +config .*Everyone/m);
    workspace.config([tool], [], { debug: true });
    await second.said('config changed');
  });
});
