import assert from 'node:assert/strict';
import { existsSync, renameSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { RunningProgram } from '../testing/built-program.js';
import { until, WindowsWorkspace } from './windows-workspace.js';

const READER = `const { readFileSync } = require('node:fs');
console.log('folder ' + process.env.WINS_FILES + ' end');
let shown = '';
setInterval(() => {
  const now = readFileSync(process.env.WINS_FILES + '\\\\token', 'latin1');
  if (now !== shown) console.log('[' + (shown = now) + ']');
}, 10);`;

describe('files that a client gives to its run on Windows', () => {
  const workspace = new WindowsWorkspace();
  const tool = workspace.program('tool');
  const reader = workspace.script('reader', READER);
  const config = workspace.config([{ path: tool, files: {} }]);
  const token = workspace.path('volume', 'token');
  let daemon: RunningProgram;

  const startDaemon = async (): Promise<void> => {
    daemon = workspace.start('srv', 'app', 'run', '--config', config);
    await daemon.said('"msg":"ready"');
  };
  const start = async (): Promise<[RunningProgram, string]> => {
    workspace.write('volume/token', 'one');
    const mount = ['--mount-file', `${token}=token`];
    const run = workspace.client('prc', 'run', '--path', tool, ...mount, '--', reader);
    await run.printed('[one]');
    return [run, /^folder (.*) end$/m.exec(run.stdout())?.[1] ?? ''];
  };

  before(startDaemon);
  after(() => workspace.remove());

  it('are renewed while the program reads them, and gone at its end', async () => {
    const [run, folder] = await start();
    workspace.write('volume/new', 'two');
    renameSync(workspace.path('volume', 'new'), token);
    await run.printed('[two]');
    assert.equal(existsSync(folder), true);
    await workspace.client('prc', 'stop', 'rancher-wins-tool').outcome;
    await run.outcome;
    assert.equal(existsSync(folder), false);
  });

  it('are gone after a daemon that was killed, once the next has started', async () => {
    const [run, folder] = await start();
    daemon.child.kill('SIGKILL');
    await Promise.all([daemon.outcome, run.outcome]);
    assert.equal(existsSync(folder), true);
    await startDaemon();
    await until(() => !existsSync(folder));
  });
});
