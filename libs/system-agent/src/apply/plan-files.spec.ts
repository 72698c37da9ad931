import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { PlanFile } from '../plan/plan.js';
import { onSmallDisk } from '../testing/small-disk-harness.js';
import { posixPlanFiles } from './plan-files.js';
import { reconcileFiles } from './reconcile-files.js';

const isRoot = process.getuid?.() === 0;
const itAsRoot = isRoot ? it : it.skip;
if (!isRoot) process.stderr.write('SKIPPED: files of other users, which only root can make\n');
const itAsUser = isRoot ? it.skip : it;
if (isRoot)
  process.stderr.write('SKIPPED: a file given to root, which is refused to others alone\n');
const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'plan-files-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (...names: string[]): string => path.join(folder, ...names);
const modeOf = (...names: string[]): string => (statSync(at(...names)).mode & 0o7777).toString(8);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function reconcile(...files: Partial<PlanFile>[]): Promise<void> {
  await reconcileFiles(
    files.map((file) => ({ path: '', directory: false, ...own, ...file })),
    {
      files: posixPlanFiles(),
      onFiles: () => Promise.resolve(),
      signal: new AbortController().signal,
    },
  );
}

describe('a file of a plan', () => {
  it('has its content, 0600 unless the plan says otherwise, and parents of 0755', async () => {
    await reconcile(
      { path: at('a', 'b', 'c'), content: base64('content') },
      { path: at('d'), content: 'aGk\r\n=', permissions: '0644' },
      { path: at('e'), permissions: '4755' },
      { path: at('f'), permissions: '0' },
    );
    expect(readFileSync(at('a', 'b', 'c'), 'utf8')).toBe('content');
    expect(['a', 'a/b', 'a/b/c', 'd', 'e', 'f'].map((name) => modeOf(name))).toEqual([
      '755',
      '755',
      '600',
      '644',
      '755',
      '0',
    ]);
    expect(readFileSync(at('d'), 'utf8')).toBe('hi');
    expect(statSync(at('e')).size).toBe(0);
  });

  it('is not written again when it has its content, but has its rights again', async () => {
    writeFileSync(at('a'), 'same', { mode: 0o777 });
    utimesSync(at('a'), 0, 0);
    const { ino } = statSync(at('a'));
    await reconcile({ path: at('a'), content: base64('same'), permissions: '0640' });
    expect(statSync(at('a'))).toMatchObject({ ino, mtimeMs: 0 });
    expect(modeOf('a')).toBe('640');
  });

  it('is complete at any moment, with its access rights from the first byte', async () => {
    writeFileSync(at('a'), 'before', { mode: 0o640 });
    const seen: string[] = [];
    const watcher = watch(folder, (_, name) => {
      const stats = lstatSync(at(name ?? ''), { throwIfNoEntry: false });
      if (stats) seen.push(`${name === 'a' ? 'a' : 'other'} ${(stats.mode & 0o777).toString(8)}`);
    });
    const content = base64('after'.repeat(100_000));
    await reconcile({ path: at('a'), content, permissions: '0640' });
    while (!seen.includes('a 640')) await new Promise(setImmediate);
    watcher.close();
    expect(seen.filter((one) => !/^(?:a 640|other 6[04]0)$/.test(one))).toEqual([]);
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('replaces the file that a link leads to, there or not', async () => {
    mkdirSync(at('real'));
    writeFileSync(at('real', 'a'), 'before');
    symlinkSync('real', at('folder'));
    symlinkSync('folder/../real/a', at('a'));
    symlinkSync('real/new', at('dangling'));
    await reconcile(
      { path: at('a'), content: base64('after') },
      { path: at('dangling'), content: base64('made') },
      { path: at('folder', 'b'), content: base64('b') },
    );
    expect(lstatSync(at('a')).isSymbolicLink()).toBe(true);
    expect(['a', 'new', 'b'].map((name) => readFileSync(at('real', name), 'utf8'))).toEqual([
      'after',
      'made',
      'b',
    ]);
  });

  it('leaves other names of the old file alone', async () => {
    writeFileSync(at('a'), 'before');
    linkSync(at('a'), at('b'));
    await reconcile({ path: at('a'), content: base64('after') });
    expect(readFileSync(at('b'), 'utf8')).toBe('before');
  });

  itAsRoot(
    'has the owner that the plan gives, root without one, and keeps its own for -1',
    async () => {
      writeFileSync(at('kept'), 'before');
      chownSync(at('kept'), 1000, 1001);
      writeFileSync(at('same'), 'same');
      chownSync(at('same'), 1000, 1001);
      await reconcile(
        { path: at('given'), uid: 1000, gid: 1001 },
        { path: at('root') },
        { path: at('kept'), content: base64('after'), uid: -1, gid: -1 },
        { path: at('same'), content: base64('same'), uid: -1, gid: 0 },
        { path: at('folder'), directory: true, uid: 1000, gid: 1001 },
      );
      const owners = ['given', 'root', 'kept', 'same', 'folder'].map((name) => {
        const { uid, gid } = statSync(at(name));
        return `${uid}:${gid}`;
      });
      expect(owners).toEqual(['1000:1001', '0:0', '1000:1001', '1000:0', '1000:1001']);
    },
  );

  itAsUser('cannot be given away by others than root', async () => {
    await expect(reconcile({ path: at('a'), uid: 0, gid: 0 })).rejects.toMatchObject({
      code: 'fileFailed',
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that the disk has no room for leaves the old one as it was', async () => {
    await onSmallDisk(folder, 10, async () => {
      await reconcile({ path: at('a'), content: base64('before') });
      const large = base64('x'.repeat(128 * 1024));
      await expect(reconcile({ path: at('a'), content: large })).rejects.toMatchObject({
        code: 'fileFailed',
        message: expect.stringContaining('the disk is full') as string,
      });
      expect(readFileSync(at('a'), 'utf8')).toBe('before');
      expect(readdirSync(folder)).toEqual(['a']);
    });
  });

  itAsRoot('is not looked for through a link that another user made', async () => {
    writeFileSync(at('target'), 'before');
    symlinkSync('target', at('link'));
    lchownSync(at('link'), 1000, 1000);
    await expect(reconcile({ path: at('link'), content: base64('x') })).rejects.toMatchObject({
      code: 'fileFailed',
      message: expect.stringContaining('found a symbolic link of another user') as string,
    });
    expect(readFileSync(at('target'), 'utf8')).toBe('before');
  });

  it.each([
    ['relative', {}, 'found a relative path; wanted an absolute path'],
    ['', {}, 'found no path'],
    ['relative', { action: 'delete' }, 'wanted an absolute path'],
    ['/', { action: 'delete', directory: true }, 'found the root'],
    ['/x', { content: '%%%' }, 'found content that is not base64; wanted base64 with padding'],
    ['/x', { content: 'YQ' }, 'content that is not base64'],
    ['/x', { permissions: 'rw-r--r--' }, 'found the permissions "rw-r--r--"; wanted octal digits'],
    ['/x', { permissions: '0o644' }, 'wanted octal digits'],
    ['/x', { permissions: '-1' }, 'wanted octal digits'],
    ['/x\0y', {}, 'found a NUL character in its path'],
  ])('with the path %j and %j is refused', async (file, entry, message) => {
    await expect(reconcile({ path: file, ...entry })).rejects.toMatchObject({
      code: 'fileFailed',
      message: expect.stringContaining(message) as string,
    });
  });

  it('is refused if its path is a folder or a pipe, or is below a file', async () => {
    mkdirSync(at('folder'));
    execFileSync('mkfifo', [at('pipe')]);
    writeFileSync(at('file'), '');
    symlinkSync('loop', at('loop'));
    for (const name of ['folder', 'pipe', 'file/x', 'loop']) {
      await expect(reconcile({ path: at(name) })).rejects.toMatchObject({ code: 'fileFailed' });
    }
  });
});

describe('files of a plan', () => {
  const names = Array.from({ length: 40 }, (_, index) => String(index).padStart(2, '0'));
  const write = (name: string, text: string, rights: Partial<PlanFile> = {}) => ({
    path: at(name),
    content: base64(text),
    ...rights,
  });

  it('are in place before one that fails; of it and of those after it nothing is left', async () => {
    mkdirSync(at('20'));
    await expect(reconcile(...names.map((name) => write(name, name)))).rejects.toMatchObject({
      code: 'fileFailed',
      message: expect.stringContaining('it is a folder') as string,
    });
    expect(readdirSync(folder).sort()).toEqual(names.slice(0, 21));
    expect(readFileSync(at('19'), 'utf8')).toBe('19');
  });

  it('are made as the list says where entries are about one path', async () => {
    writeFileSync(at('a'), 'same');
    const a = { path: at('a') };
    await reconcile(write('a', 'other'), write('a', 'same'), write('a', 'third'), write('a', 'x'));
    expect(readFileSync(at('a'), 'utf8')).toBe('x');
    await reconcile({ ...a, action: 'delete' }, write('a', 'again', { permissions: '0644' }));
    expect([readFileSync(at('a'), 'utf8'), modeOf('a')]).toEqual(['again', '644']);
    await reconcile(write('a', 'new'), { ...a, action: 'delete' }, write('b', 'new'));
    expect(readdirSync(folder)).toEqual(['b']);
  });

  it('are made as the list says where folders come between them', async () => {
    await reconcile(
      write('d/1', '1'),
      { path: at('d'), action: 'delete', directory: true },
      { path: at('d'), directory: true, permissions: '0700' },
      write('d/2', '2'),
      write('d/e/3', '3'),
      write('d/e/4', '4'),
      { path: at('d', 'e'), action: 'delete', directory: true },
      write('d/5', '5'),
    );
    expect(readdirSync(at('d')).sort()).toEqual(['2', '5']);
    expect(modeOf('d')).toBe('700');
  });

  it('are made as the list says where two paths lead to one file', async () => {
    mkdirSync(at('real'));
    symlinkSync('real', at('link'));
    symlinkSync('real/a', at('a'));
    writeFileSync(at('real', 'a'), 'first');
    await reconcile(write('real/a', 'other'), write('link/a', 'first'));
    expect(readFileSync(at('real', 'a'), 'utf8')).toBe('first');
    await reconcile(write('a', 'one'), write('real/a', 'two'), write('a', 'first'));
    expect(readFileSync(at('real', 'a'), 'utf8')).toBe('first');
    expect(lstatSync(at('a')).isSymbolicLink()).toBe(true);
    expect(readdirSync(at('real'))).toEqual(['a']);
  });

  itAsRoot('keep the owner that an entry before gave', async () => {
    const keep = { uid: -1, gid: -1 };
    await reconcile(
      write('a', 'before', { uid: 1000, gid: 1001 }),
      write('a', 'after', keep),
      write('b', 'b', keep),
      write('b', 'c', { uid: 1000, gid: -1 }),
    );
    const { uid, gid } = statSync(at('a'));
    expect([uid, gid, statSync(at('b')).uid]).toEqual([1000, 1001, 1000]);
  });

  it('that are large are made in their order too', async () => {
    const large = 'x'.repeat(100_000);
    await reconcile(...names.map((name, index) => write(name, index % 3 ? name : large)));
    expect(readdirSync(folder)).toEqual(names);
    expect(readFileSync(at('39'), 'utf8')).toBe(large);
    expect(readFileSync(at('38'), 'utf8')).toBe('38');
  });

  it('that the disk has no room for leave those before them, and nothing else', async () => {
    await onSmallDisk(folder, 100, async () => {
      const text = 'x'.repeat(8192);
      await expect(reconcile(...names.map((name) => write(name, text)))).rejects.toMatchObject({
        code: 'fileFailed',
        message: expect.stringContaining('the disk is full') as string,
      });
      const there = readdirSync(folder);
      expect(there).toEqual(names.slice(0, there.length));
      expect(there.map((name) => statSync(at(name)).size)).toEqual(there.map(() => text.length));
    });
  });

  it('are not made any more once the pass is to end', async () => {
    const ending = new AbortController();
    const watcher = watch(folder, () => {
      if (readdirSync(folder).some((name) => name === '05')) ending.abort(new Error('the end'));
    });
    const entries = Array.from({ length: 5000 }, (_, index) =>
      write(String(index).padStart(2, '0'), 'x'),
    );
    const made = reconcileFiles(
      entries.map((entry) => ({ directory: false, ...own, ...entry })),
      { files: posixPlanFiles(), onFiles: () => Promise.resolve(), signal: ending.signal },
    );
    await expect(made).rejects.toThrow('the end');
    watcher.close();
    const there = readdirSync(folder);
    expect(there.length).toBeLessThan(5000);
    expect(there.filter((name) => !/^\d+$/.test(name))).toEqual([]);
  });
});

describe('a folder of a plan', () => {
  it('has its mode, as have the folders above it that are made', async () => {
    await reconcile(
      { path: at('a', 'b'), directory: true, permissions: '0700' },
      { path: at('c'), directory: true },
      { path: at('d'), directory: true, permissions: '1777' },
    );
    expect(['a', 'a/b', 'c', 'd'].map((name) => modeOf(name))).toEqual([
      '700',
      '700',
      '755',
      '777',
    ]);
  });

  it('that is there has its mode again, those above it keep theirs', async () => {
    mkdirSync(at('a', 'b'), { recursive: true });
    chmodSync(at('a'), 0o711);
    await reconcile({ path: at('a', 'b'), directory: true, permissions: '0750' });
    expect([modeOf('a'), modeOf('a', 'b')]).toEqual(['711', '750']);
  });

  it('has its rights through a link of our own', async () => {
    mkdirSync(at('real'));
    symlinkSync('real', at('link'));
    await reconcile({ path: at('link'), directory: true, permissions: '0710' });
    expect(modeOf('real')).toBe('710');
  });

  itAsRoot('is not given away through a link that another user made', async () => {
    mkdirSync(at('target'), { mode: 0o755 });
    symlinkSync('target', at('link'));
    lchownSync(at('link'), 1000, 1000);
    const entry = { path: at('link'), directory: true, uid: 1000, gid: 1000, permissions: '0777' };
    await expect(reconcile(entry)).rejects.toMatchObject({
      code: 'fileFailed',
      message: expect.stringContaining('found a symbolic link of another user') as string,
    });
    expect(statSync(at('target'))).toMatchObject({ uid: 0, gid: 0 });
    expect(modeOf('target')).toBe('755');
  });

  it('is refused where a file is', async () => {
    writeFileSync(at('a'), '');
    await expect(reconcile({ path: at('a'), directory: true })).rejects.toMatchObject({
      code: 'fileFailed',
      message: expect.stringContaining('cannot make the folder') as string,
    });
  });
});

describe('removal', () => {
  it('removes files, empty folders, and whole folders where the plan says so', async () => {
    writeFileSync(at('file'), '');
    mkdirSync(at('empty'));
    mkdirSync(at('full', 'sub'), { recursive: true });
    writeFileSync(at('full', 'sub', 'x'), '');
    await reconcile(
      { path: at('file'), action: 'delete' },
      { path: at('empty'), action: 'delete' },
      { path: at('full'), action: 'delete', directory: true },
      { path: at('absent'), action: 'delete' },
      { path: at('absent', 'below'), action: 'delete', directory: true },
      { path: '', action: 'delete' },
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it('does not remove a full folder unless the plan says so', async () => {
    mkdirSync(at('full'));
    writeFileSync(at('full', 'x'), '');
    await expect(reconcile({ path: at('full'), action: 'delete' })).rejects.toMatchObject({
      code: 'fileFailed',
    });
    expect(readdirSync(at('full'))).toEqual(['x']);
  });

  it('removes links, never what they lead to', async () => {
    mkdirSync(at('kept'));
    writeFileSync(at('kept', 'x'), '');
    mkdirSync(at('full'));
    symlinkSync(at('kept'), at('full', 'link'));
    symlinkSync(at('kept'), at('link'));
    symlinkSync(at('kept', 'x'), at('to-file'));
    await reconcile(
      { path: at('full'), action: 'delete', directory: true },
      { path: at('link'), action: 'delete', directory: true },
      { path: at('to-file'), action: 'delete' },
    );
    expect(readdirSync(folder)).toEqual(['kept']);
    expect(readdirSync(at('kept'))).toEqual(['x']);
  });
});

describe('a private folder', () => {
  it('is made private if others could only read it, and refused if they could write to it', async () => {
    const files = posixPlanFiles();
    mkdirSync(at('readable'));
    chmodSync(at('readable'), 0o755);
    await files.ensurePrivateFolder(at('readable'));
    expect(modeOf('readable')).toBe('700');
    mkdirSync(at('open'));
    chmodSync(at('open'), 0o777);
    await expect(files.ensurePrivateFolder(at('open'))).rejects.toMatchObject({
      code: 'fileFailed',
    });
    expect(modeOf('open')).toBe('777');
  });

  it('is left unchanged if others could replace it', async () => {
    mkdirSync(at('open', 'readable'), { recursive: true });
    chmodSync(at('open'), 0o777);
    chmodSync(at('open', 'readable'), 0o755);
    await expect(
      posixPlanFiles().ensurePrivateFolder(at('open', 'readable')),
    ).rejects.toMatchObject({ code: 'fileFailed' });
    expect(modeOf('open', 'readable')).toBe('755');
  });
});
