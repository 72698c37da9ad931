import { parseSecurityDescriptor } from '@wins/base';
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { loadKoffi, systemPath } from '../win32/calls/system-library.js';
import { fileSecurity } from '../access/file-security.js';
import { processAccount } from '../access/process-account.js';
import { windowsPlanFiles } from './windows-plan-files.js';

const EVERYONE = 'S-1-1-0';
const SYSTEM = 'S-1-5-18';
const ADMINISTRATORS = 'S-1-5-32-544';

describe('files of plans', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-'));
  after(() => rmSync(folder, { recursive: true }));
  class Failure extends Error {}
  const files = windowsPlanFiles({ failure: (message, options) => new Failure(message, options) });
  /** Returns the other accounts in the access list. A whole list cannot be compared: Wine does not store whether it is protected. */
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

  describe('that another program holds', () => {
    const SHARE_READ = 1;
    const SHARE_WRITE = 2;
    const kernel32 = loadKoffi().load(systemPath('kernel32.dll'));
    const create = kernel32.func(
      'intptr_t __stdcall CreateFileW(str16 file, uint32_t access, uint32_t share, void *security, uint32_t disposition, uint32_t flags, intptr_t template)',
    );
    const close = kernel32.func('int __stdcall CloseHandle(intptr_t handle)');
    const held = path.join(folder, 'held');
    /** Opens the file for writing, as Go and most programs do: until it is closed, nobody may rename or delete it. */
    const hold = (share: number): (() => unknown) => {
      writeFileSync(held, 'a log that is longer than the file');
      const handle: unknown = create(held, 0x4000_0000, share, null, 3, 0, 0);
      return () => close(handle) as unknown;
    };
    const warnings: string[] = [];
    const more = { onWarning: (message: string) => warnings.push(message) };
    const failure = (message: string, options: ErrorOptions) => new Failure(message, options);
    const impatient = windowsPlanFiles({ failure, heldFileMs: 50, ...more });

    it('are waited for', async () => {
      const release = hold(SHARE_READ);
      // Releases the file while the temporary file beside it waits to be renamed.
      const watcher = watch(folder, (_event, name) => {
        if (name?.startsWith('.held.') !== true) return;
        watcher.close();
        setTimeout(release, 20);
      });
      try {
        await files.writeFile(held, Buffer.from('new'), { mode: 0o600 });
      } finally {
        watcher.close();
      }
      assert.equal(readFileSync(held, 'utf8'), 'new');
      const again = hold(SHARE_READ);
      const removing = files.remove(held, false);
      setImmediate(again);
      await removing;
      assert.equal(existsSync(held), false);
    });

    it('are written in place where it lets others write, with their mode and a warning', async () => {
      const release = hold(SHARE_READ | SHARE_WRITE);
      await impatient.writeFile(held, Buffer.from('new'), { mode: 0o600 });
      assert.equal(readFileSync(held, 'utf8'), 'new');
      assert.deepEqual(othersOf(held), []);
      assert.match(warnings.join(), /held" was written in place: it cannot be replaced; /);
      release();
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.startsWith('.')),
        [],
      );
    });

    it('stay as they are where it lets nobody write, and the message says why', async () => {
      const release = hold(SHARE_READ);
      await assert.rejects(
        impatient.writeFile(held, Buffer.from('new'), { mode: 0o600 }),
        /cannot write .*: [a-z ]+; (?:held by|does another program hold it\?)/,
      );
      release();
      assert.equal(readFileSync(held, 'utf8'), 'a log that is longer than the file');
    });
  });

  it('cannot be where a folder is', async () => {
    await assert.rejects(files.writeFile(folder, Buffer.from(''), { mode: 0o600 }), Failure);
  });
});
