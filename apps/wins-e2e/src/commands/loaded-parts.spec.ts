import { readFileSync, writeFileSync } from 'node:fs';
import { startProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { WINS, Workspace } from '../testing/workspace.js';

/** To load one of them takes up to 2.5 ms, a tenth of what Node takes to start (docs/adr/0028). */
const HEAVY = ['crypto', 'fs/promises', 'perf_hooks', 'timers/promises'];

describe('a call with one answer', () => {
  const workspace = new Workspace();
  let daemon: Daemon;

  beforeAll(async () => {
    daemon = await Daemon.start(workspace, workspace.config([]));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it('loads no part of Node that it has no use for', async () => {
    const [list, hook] = [workspace.path('list'), workspace.path('hook.cjs')];
    const write = `require('fs').writeFileSync(${JSON.stringify(list)}, process.moduleLoadList.join('\\n'))`;
    writeFileSync(hook, `process.on('exit', () => ${write});`);
    const words = ['--require', hook, WINS, 'cli', 'prc', 'ls'];
    const { code } = await startProgram(process.execPath, words, workspace.environment).outcome;
    expect(code).toBe(0);
    const loaded = readFileSync(list, 'utf8').split('\n');
    expect(loaded).toContain('NativeModule net');
    expect(HEAVY.filter((name) => loaded.includes(`NativeModule ${name}`))).toEqual([]);
  });
});
