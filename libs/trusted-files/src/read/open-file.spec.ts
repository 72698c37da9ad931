import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  openRegularFile,
  openTrustedFile,
  posixFileTrust,
  readWhole,
  type FileTrust,
} from '../index.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'wins-open-'));
  file = path.join(folder, 'file');
});

afterEach(() => rmSync(folder, { recursive: true }));

it('reads a file whole, up to the limit, and refuses one byte more', async () => {
  writeFileSync(file, Buffer.alloc(600_000, 'ab'));
  const opened = await openRegularFile(file);
  const bytes = await readWhole(opened, { maxBytes: 600_000 });
  expect(bytes.equals(Buffer.alloc(600_000, 'ab'))).toBe(true);
  const tooLarge = { code: 'tooLarge', path: file, found: 'it has more than 599999 bytes' };
  await expect(readWhole(opened, { maxBytes: 599_999 })).rejects.toMatchObject(tooLarge);
  await opened.handle.close();
});

it('reads a file that does not tell its size', async () => {
  const opened = await openRegularFile('/proc/self/status');
  expect(opened.stats.size).toBe(0);
  const bytes = await readWhole(opened, { maxBytes: 100_000 });
  expect(bytes.toString()).toContain('Pid:');
  await opened.handle.close();
});

it.each([
  ['a folder', () => mkdirSync(file), 'notRegularFile', 'it is a folder'],
  ['a FIFO', () => spawnSync('/usr/bin/mkfifo', [file]), 'notRegularFile', 'a pipe'],
  ['a link', () => symlinkSync('/etc/passwd', file), 'notTrusted', 'a symbolic link'],
  ['missing', () => undefined, 'notFound', 'no such file'],
])('opens no file that is %s, and does not wait', async (_what, make, code, found) => {
  make();
  await expect(openRegularFile(file)).rejects.toMatchObject({
    code,
    path: file,
    found: expect.stringContaining(found) as string,
  });
});

it('follows a link where it is to', async () => {
  symlinkSync('/etc/passwd', file);
  const { stats, handle } = await openRegularFile(file, { followLinks: true });
  expect(stats.isFile()).toBe(true);
  await handle.close();
});

describe('a file behind links that are followed', () => {
  const follow = { followLinks: true };
  const volume = (name: string): string => path.join(folder, 'volume', name);

  /** Puts a new content behind `..data`, and removes the earlier one, as the kubelet does. */
  function swap(name: string, content: string, earlier?: string): void {
    mkdirSync(volume(name), { recursive: true });
    writeFileSync(path.join(volume(name), 'file'), content, { mode: 0o600 });
    symlinkSync(name, volume('..data_tmp'));
    renameSync(volume('..data_tmp'), volume('..data'));
    if (earlier !== undefined) rmSync(volume(earlier), { recursive: true });
  }

  it('is opened through links of folders, and through a link whose target is replaced meanwhile', async () => {
    const contentOf = (version: number) => String(version).padStart(6, '0').repeat(50_000);
    swap('..0', contentOf(0));
    symlinkSync('..data/file', volume('file'));
    symlinkSync('volume', path.join(folder, 'linked'));
    let version = 0;
    // Swaps while the file is opened, judged, and read.
    const swapping = {
      distrustOfFile: (...asked: Parameters<FileTrust['distrustOfFile']>) => {
        if (version % 3 !== 2) next();
        return posixFileTrust().distrustOfFile(...asked);
      },
    };
    const next = (): void => {
      version += 1;
      swap(`..${version}`, contentOf(version), `..${version - 1}`);
    };
    for (let round = 0; round < 20; round += 1) {
      const opened = await openTrustedFile(path.join(folder, 'linked/file'), swapping, follow);
      const judged = contentOf(version);
      next();
      const bytes = await readWhole(opened, { maxBytes: 600_000 });
      expect(bytes.toString() === judged).toBe(true);
      await opened.handle.close();
    }
  });

  it('is looked for twice, because the earlier target of a replaced link may be gone', async () => {
    swap('..0', 'old');
    symlinkSync('..data/file', volume('file'));
    let isFirst = true;
    const removing = {
      distrustOfFile: (...asked: Parameters<FileTrust['distrustOfFile']>) => {
        if (!isFirst) return posixFileTrust().distrustOfFile(...asked);
        isFirst = false;
        renameSync(volume('..0'), volume('gone'));
        try {
          return posixFileTrust().distrustOfFile(...asked);
        } finally {
          swap('..1', 'new');
        }
      },
    };
    const opened = await openTrustedFile(volume('file'), removing, follow);
    expect((await readWhole(opened, { maxBytes: 100 })).toString()).toBe('new');
    await opened.handle.close();
    rmSync(volume('..1'), { recursive: true });
    const missing = openTrustedFile(volume('file'), posixFileTrust(), follow);
    await expect(missing).rejects.toMatchObject({ code: 'notFound' });
  });

  it.each([
    ['lead in a circle', () => symlinkSync('file', file)],
    [
      'are more than 40',
      () => {
        for (let count = 0; count < 41; count += 1)
          symlinkSync(`file${count + 1}`, `${file}${count || ''}`);
        writeFileSync(`${file}41`, '', { mode: 0o600 });
      },
    ],
  ])('is refused if they %s', async (_title, make) => {
    make();
    await expect(openTrustedFile(file, posixFileTrust(), follow)).rejects.toMatchObject({
      code: 'notTrusted',
      rule: 'A7 symbolic link',
      found: 'links lead in a circle, or more than 40 follow each other',
    });
  });
});

it('opens a trusted file, and none that others can write', async () => {
  writeFileSync(file, '', { mode: 0o600 });
  await (await openTrustedFile(file, posixFileTrust())).handle.close();
  chmodSync(file, 0o666);
  await expect(openTrustedFile(file, posixFileTrust())).rejects.toMatchObject({
    code: 'notTrusted',
    rule: 'A7 writable by other users',
    at: file,
  });
});

describe('a file that is replaced between the opening and the judgement', () => {
  const replacing = (times: number) => ({
    distrustOfFile: () => {
      if ((times -= 1) < 0) return undefined;
      writeFileSync(`${file}.next`, `${times} left`, { mode: 0o600 });
      renameSync(`${file}.next`, file);
      return undefined;
    },
  });

  beforeEach(() => writeFileSync(file, 'opened', { mode: 0o600 }));

  it('is opened again, so that what is read is what was judged', async () => {
    const opened = await openTrustedFile(file, replacing(2));
    expect((await readWhole(opened, { maxBytes: 100 })).toString()).toBe('0 left');
    await opened.handle.close();
  });

  it('is refused when that happens each time', async () => {
    const opened = openTrustedFile(file, replacing(Infinity));
    await expect(opened).rejects.toMatchObject({ code: 'changed' });
  });
});
