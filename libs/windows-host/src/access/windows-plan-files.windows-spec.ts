import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { fileSecurity } from './file-security.js';
import { processAccount } from './process-account.js';
import { parseSecurityDescriptor } from './security-descriptor.js';
import { windowsPlanFiles } from './windows-plan-files.js';

const EVERYONE = 'S-1-1-0';
const SYSTEM = 'S-1-5-18';
const ADMINISTRATORS = 'S-1-5-32-544';

describe('files of plans', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-'));
  after(() => rmSync(folder, { recursive: true }));
  class Failure extends Error {}
  const files = windowsPlanFiles({ failure: (message, options) => new Failure(message, options) });
  /** Who may use a file besides those who may use all of them. That a list is protected Wine does not keep. */
  const othersOf = (file: string) => {
    const { entries = [] } = parseSecurityDescriptor(fileSecurity(file));
    const own = [SYSTEM, ADMINISTRATORS, processAccount().user];
    return entries.map(({ sid }) => sid).filter((sid) => !own.includes(sid));
  };

  it('are for administrators alone, or for everyone, as their mode says', async () => {
    const file = path.join(folder, 'deep', 'file');
    await files.writeFile(file, Buffer.from('one'), { mode: 0o600 });
    assert.equal(readFileSync(file, 'utf8'), 'one');
    assert.deepEqual(othersOf(file), []);
    await files.writeFile(file, Buffer.from('one'), { mode: 0o644 });
    assert.deepEqual(othersOf(file), [EVERYONE]);
    await files.writeFile(file, Buffer.from('another'), { mode: 0o600 });
    assert.deepEqual(othersOf(file), []);
    assert.equal(readFileSync(file, 'utf8'), 'another');
  });

  it('are in folders that are made with their mode, those above too', async () => {
    const inner = path.join(folder, 'a', 'b');
    await files.ensureFolder(inner, { mode: 0o700 });
    for (const one of [path.dirname(inner), inner]) assert.deepEqual(othersOf(one), []);
    await files.ensureFolder(inner, { mode: 0o755 });
    assert.deepEqual(othersOf(inner), [EVERYONE]);
  });

  it('are removed, with or without what is in them', async () => {
    const inner = path.join(folder, 'gone');
    await files.ensureFolder(inner, { mode: 0o700 });
    writeFileSync(path.join(inner, 'file'), '');
    await assert.rejects(files.remove(inner, false), Failure);
    await files.remove(path.join(inner, 'file'), false);
    await files.remove(path.join(inner, 'file'), false);
    await files.remove(inner, true);
    await files.remove(inner, true);
    assert.equal(existsSync(inner), false);
  });

  it('of the agent itself are private and replaced as a whole', async () => {
    const home = path.join(folder, 'private');
    await files.ensurePrivateFolder(home);
    const file = path.join(home, 'state');
    await files.writePrivateFile(file, Buffer.from('secret'));
    await files.writePrivateFile(file, Buffer.from('other'));
    assert.deepEqual(othersOf(file), []);
    assert.equal(readFileSync(file, 'utf8'), 'other');
  });

  it('cannot be where a folder is', async () => {
    await assert.rejects(files.writeFile(folder, Buffer.from(''), { mode: 0o600 }), Failure);
  });
});
