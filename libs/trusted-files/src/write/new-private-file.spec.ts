import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeNewPrivateFile } from '../index.js';

describe('a new private file', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-new-file-'));
    file = path.join(folder, 'dump');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('has what was written, and is open to its user alone', async () => {
    await writeNewPrivateFile(file, async (write) => {
      await write(Buffer.from('two'), 3);
      await write(Buffer.from('one'), 0);
    });
    expect(readFileSync(file, 'utf8')).toBe('onetwo');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is not made over a file or through a link', async () => {
    writeFileSync(file, 'old');
    symlinkSync(path.join(folder, 'elsewhere'), path.join(folder, 'link'));
    for (const name of ['dump', 'link']) {
      const written = writeNewPrivateFile(path.join(folder, name), () => Promise.resolve());
      await expect(written).rejects.toMatchObject({ code: 'alreadyExists' });
    }
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(existsSync(path.join(folder, 'elsewhere'))).toBe(false);
  });

  it('is gone when it could not be written to its end', async () => {
    const failure = new Error('the other end has gone');
    const written = writeNewPrivateFile(file, async (write) => {
      await write(Buffer.from('half'), 0);
      throw failure;
    });
    await expect(written).rejects.toBe(failure);
    expect(existsSync(file)).toBe(false);
  });

  it('may be made by whoever knows how to protect it', async () => {
    const made: string[] = [];
    const create = (path: string): void => {
      made.push(path);
      writeFileSync(path, '', { flag: 'wx' });
    };
    await writeNewPrivateFile(file, (write) => write(Buffer.from('x'), 0), { create });
    expect([made, readFileSync(file, 'utf8')]).toEqual([[file], 'x']);
    const again = writeNewPrivateFile(file, () => Promise.resolve(), { create });
    await expect(again).rejects.toMatchObject({ code: 'alreadyExists' });
    expect(readFileSync(file, 'utf8')).toBe('x');
  });
});
