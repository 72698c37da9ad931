import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixFileTrust, readBytes, unlessNotFound } from '../index.js';

describe('readBytes', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'read-bytes-'));
    file = path.join(folder, 'file');
    writeFileSync(file, 'content', { mode: 0o600 });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('reads a file whole, up to its limit', async () => {
    expect(String(await readBytes(file, { maxBytes: 7 }))).toBe('content');
    await expect(readBytes(file, { maxBytes: 6 })).rejects.toMatchObject({ code: 'tooLarge' });
  });

  it('follows a link only where that is asked for', async () => {
    const link = path.join(folder, 'link');
    symlinkSync(file, link);
    await expect(readBytes(link, { maxBytes: 7 })).rejects.toMatchObject({ code: 'notTrusted' });
    expect(String(await readBytes(link, { maxBytes: 7, followLinks: true }))).toBe('content');
  });

  it('reads nothing that others could have written, where that is judged', async () => {
    const trust = posixFileTrust();
    expect(String(await readBytes(file, { maxBytes: 7, trust }))).toBe('content');
    chmodSync(file, 0o666);
    await expect(readBytes(file, { maxBytes: 7, trust })).rejects.toMatchObject({
      code: 'notTrusted',
    });
    expect(String(await readBytes(file, { maxBytes: 7 }))).toBe('content');
  });

  it('tells a file that is missing from one that cannot be read', async () => {
    const read = (name: string) =>
      readBytes(path.join(folder, name), { maxBytes: 7 }).catch(unlessNotFound);
    expect(await read('other')).toBeUndefined();
    await expect(read('.')).rejects.toMatchObject({ code: 'notRegularFile' });
  });
});
