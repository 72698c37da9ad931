import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { holdFile } from './file-hold.js';
import { JobObjectProcess } from '../processes/job-object-process.js';
import { systemPath } from '../win32/calls/system-library.js';

describe('a held file', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'wins-'));
  after(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'held.exe');

  it('can be read, and cannot be written, emptied, renamed, replaced or deleted', () => {
    writeFileSync(file, 'held');
    const other = path.join(directory, 'other.exe');
    writeFileSync(other, 'evil');
    const held = holdFile(file);
    assert.equal(readFileSync(file, 'utf8'), 'held');
    assert.throws(() => openSync(file, 'r+'), { code: 'EBUSY' });
    assert.throws(() => writeFileSync(file, 'evil'), { code: 'EBUSY' });
    assert.throws(() => copyFileSync(other, file), { code: 'EBUSY' });
    assert.throws(() => renameSync(file, `${file}.old`), { code: /EBUSY|EPERM/ });
    assert.throws(() => renameSync(other, file), { code: /EBUSY|EPERM/ });
    assert.throws(() => unlinkSync(file), { code: /EBUSY|EPERM/ });
    assert.equal(readFileSync(file, 'utf8'), 'held');
    held.close();
    held.close();
    writeFileSync(file, 'changed');
    unlinkSync(file);
  });

  it('runs while it is held', async () => {
    copyFileSync(systemPath('cmd.exe'), file);
    const held = holdFile(file);
    const program = { file, argv0: file, args: ['/d', '/c', 'exit 9'], env: {}, directory };
    const child = JobObjectProcess.start(program, { mayBreakAway: false });
    held.close();
    child.stdout.resume();
    child.stderr.resume();
    assert.deepEqual(await child.exited, { code: 9 });
    child.close();
    unlinkSync(file);
  });

  it('is refused while somebody has it open for writing', () => {
    writeFileSync(file, 'held');
    const writer = openSync(file, 'r+');
    assert.throws(() => holdFile(file), { code: 'busy', symbol: 'ERROR_SHARING_VIOLATION' });
    closeSync(writer);
    holdFile(file).close();
  });

  it('is not-found when it is not there', () => {
    assert.throws(() => holdFile(path.join(directory, 'absent.exe')), { code: 'notFound' });
  });
});
