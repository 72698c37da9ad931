import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { until, WindowsWorkspace } from './windows-workspace.js';

const SERVICE = 'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464';
/** The longest of the lists that the check accepts; secured-pipe.windows-spec.ts serves pipes with others. */
const ACCEPTED = `D:P(D;;GA;;;BG)(A;;GA;;;SY)(A;;GA;;;BA)(A;;0x12019b;;;${SERVICE})(A;;GA;;;WD)`;

describe('the config of a daemon on Windows', () => {
  const workspace = new WindowsWorkspace();
  const tool = workspace.program('tool');
  after(() => workspace.remove());
  const serve = async (config: string) => {
    const daemon = workspace.start('srv', 'app', 'run', '--config', config);
    await daemon.said('"msg":"ready"');
    return daemon;
  };

  it('starts a daemon with an access list that the check accepts', async () => {
    const config = workspace.config([tool], [], { pipeAccess: ACCEPTED });
    const { code, stderr } = await workspace.run('srv', 'config', 'check', '--config', config);
    assert.equal(code, 0, stderr);
    const daemon = await serve(config);
    daemon.child.kill('SIGKILL');
    await daemon.outcome;
  });

  it('is refused by the check with one that is none', async () => {
    const config = workspace.config([tool], [], { pipeAccess: 'BUILTIN\\Users' });
    const { code, stderr } = await workspace.run('srv', 'config', 'check', '--config', config);
    assert.equal(code, 78, stderr);
    assert.match(stderr, /pipeAccess: found /);
  });

  it('is the one before it when the file cannot be used, which is private and goes on serving', async () => {
    const config = workspace.config([tool]);
    const first = await serve(config);
    const kept = `${config}.history\\served.000001.yaml`;
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
