import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileHolders } from './file-holders.js';

describe('the programs that hold a file', () => {
  it('include a process that runs the file, until it ends', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wins-'));
    const file = path.join(folder, 'held program.exe');
    copyFileSync(process.execPath, file);
    assert.deepEqual(await fileHolders(file), []);
    const running = spawn(file, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    await once(running, 'spawn');
    const [holder, ...others] = await fileHolders(file);
    // The Restart Manager of Windows names a program by its description; Wine's names none.
    assert.match(holder ?? '', new RegExp(`^\\S.* \\(process ${running.pid}\\)$`));
    assert.deepEqual(others, []);
    running.kill();
    await once(running, 'exit');
    assert.deepEqual(await fileHolders(file), []);
    rmSync(folder, { recursive: true, maxRetries: 5 });
  });
});
