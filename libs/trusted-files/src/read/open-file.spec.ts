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
import { openRegularFile, openTrustedFile, posixFileTrust, readWhole } from '../index.js';

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
    ...{ code, path: file, found: expect.stringContaining(found) as string },
  });
});

it('follows a link where it is to', async () => {
  symlinkSync('/etc/passwd', file);
  const { stats, handle } = await openRegularFile(file, { followLinks: true });
  expect(stats.isFile()).toBe(true);
  await handle.close();
});

it('opens a trusted file, and none that others can write', async () => {
  writeFileSync(file, '', { mode: 0o600 });
  await (await openTrustedFile(file, posixFileTrust())).handle.close();
  chmodSync(file, 0o666);
  await expect(openTrustedFile(file, posixFileTrust())).rejects.toMatchObject({
    ...{ code: 'notTrusted', rule: 'A7 writable by other users', at: file },
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
