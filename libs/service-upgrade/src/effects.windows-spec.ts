import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Effects } from './effects.js';
import { readProgram } from './run/read-program.js';
import { askVersion } from './run/run-program.js';
import { isRunnable } from './plan/program-format.js';

describe('programs on Windows', () => {
  let folder: string;
  let running: ChildProcess;
  const names: string[] = [];
  const effects = new Effects(
    (effect, action) => {
      names.push(effect);
      return action();
    },
    2000,
    (held) => Promise.resolve(held.endsWith('staged.exe') ? ['node.exe (process 12)'] : []),
  );
  const file = (name: string) => path.join(folder, name);

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-files-'));
    copyFileSync(process.execPath, file('staged.exe'));
    copyFileSync(process.execPath, file('wins.exe'));
    running = spawn(file('staged.exe'), ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    await once(running, 'spawn');
  });
  after(async () => {
    running.kill();
    if (running.exitCode === null) await once(running, 'exit');
    rmSync(folder, { recursive: true, maxRetries: 5 });
  });

  it('are told by their header', async () => {
    const content = await readProgram(file('wins.exe'));
    assert.ok(content !== undefined && isRunnable(content.format, 'win32', 'x64'));
    assert.equal(await askVersion(file('wins.exe'), { timeoutMs: 30_000 }), undefined);
  });

  it('are waited for while they run, and are then an error that says so', async () => {
    writeFileSync(file('other.exe'), 'other');
    await assert.rejects(effects.move('other', file('other.exe'), file('staged.exe')), {
      code: 'fileFailed',
      message: /cannot move .*other\.exe to .*staged\.exe: .*; held by node\.exe \(process 12\)$/,
    });
    assert.ok(names.filter((name) => name === 'move other').length > 2);
    await assert.rejects(effects.remove('staged', file('staged.exe')), { code: 'fileFailed' });
  });

  it('keep their name while they run', async () => {
    assert.equal(await effects.vacate(file('staged.exe')), false);
    assert.ok(existsSync(file('staged.exe')));
    assert.equal(await effects.vacate(file('absent.exe')), true);
    writeFileSync(file('leftover.exe'), 'leftover');
    assert.equal(await effects.vacate(file('leftover.exe')), true);
    assert.ok(!existsSync(file('leftover.exe')));
  });

  it('stay where a sweep finds them running', async () => {
    await effects.sweep(folder, [file('wins.exe')]);
    assert.ok(existsSync(file('staged.exe')));
    assert.ok(!existsSync(file('other.exe')));
  });

  it('take the place of one that does not run, while they run', async () => {
    await effects.move('staged', file('staged.exe'), file('wins.exe'));
    assert.ok(!existsSync(file('staged.exe')));
    assert.ok(existsSync(file('wins.exe')));
    assert.equal(running.exitCode, null);
  });
});
