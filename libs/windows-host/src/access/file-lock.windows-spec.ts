import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { lockFile } from './file-hold.js';

const HOLDER = 'hold-the-lock';

if (process.argv[2] === HOLDER) {
  process.stdout.write(String(lockFile(process.argv[3] ?? '') !== undefined));
  setInterval(() => undefined, 1e6);
} else theSuite();

function theSuite(): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-'));
  after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'lock');

  describe('a lock file', () => {
    it('is had by one at a time, and cannot be taken away', () => {
      const lock = lockFile(file);
      assert.ok(lock);
      assert.equal(lockFile(file), undefined);
      assert.throws(() => unlinkSync(file), { code: /EBUSY|EPERM/ });
      lock.close();
      lock.close();
      lockFile(file)?.close();
      unlinkSync(file);
    });

    it('is free again when its holder is killed', async () => {
      const child = spawn(process.execPath, [__filename, HOLDER, file], { stdio: 'pipe' });
      const [said] = (await once(child.stdout, 'data')) as [Buffer];
      assert.equal(said.toString(), 'true');
      assert.equal(lockFile(file), undefined);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const lock = lockFile(file);
      assert.ok(lock);
      lock.close();
    });

    it('needs its folder', () => {
      assert.throws(() => lockFile(path.join(folder, 'none', 'lock')), { code: 'notFound' });
    });
  });
}
