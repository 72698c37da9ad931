import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NumberedFiles, RollingFile } from '../index.js';

describe('a rolling file', () => {
  let folder: string;
  let files: NumberedFiles;
  let file: RollingFile;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'rolling-file-'));
    files = new NumberedFiles({ folder, prefix: 'log', suffix: 'jsonl', digits: 3 });
    file = new RollingFile(files, { isDurable: true });
  });
  afterEach(async () => {
    await file.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const contentOf = (number: number): string => readFileSync(files.pathOf(number), 'utf8');
  const append = (text: string): Promise<void> => file.append(Buffer.from(text));

  it('goes on where it ended, in the file that it is told', async () => {
    await file.open(1);
    await append('one\n');
    await file.close();
    expect(await file.open(1)).toBe(4);
    await append('two\n');
    expect([file.number, file.sizeBytes]).toEqual([1, 8]);
    expect(await file.open(2)).toBe(0);
    await append('three\n');
    expect([contentOf(1), contentOf(2)]).toEqual(['one\ntwo\n', 'three\n']);
  });

  it('cuts off what is beyond the bytes that are to be kept', async () => {
    writeFileSync(files.pathOf(1), 'whole\n{"ha');
    await file.open(1);
    expect(file.hasHalfLine).toBe(true);
    expect(await file.open(1, 6)).toBe(6);
    expect(file.hasHalfLine).toBe(false);
    await append('next\n');
    expect(contentOf(1)).toBe('whole\nnext\n');
    expect(await file.open(1, 100)).toBe(11);
  });

  it('is for its user alone', async () => {
    await file.open(1);
    if (process.platform !== 'win32') expect(statSync(files.pathOf(1)).mode & 0o777).toBe(0o600);
  });

  it('is not written through a link, and is no device', async () => {
    const other = path.join(folder, 'other');
    writeFileSync(other, 'mine\n');
    symlinkSync(other, files.pathOf(1));
    await expect(file.open(1)).rejects.toMatchObject({ code: 'ELOOP' });
    expect(readFileSync(other, 'utf8')).toBe('mine\n');
    if (process.platform === 'win32') return;
    execFileSync('mkfifo', [files.pathOf(2)]);
    await expect(file.open(2)).rejects.toMatchObject({ code: 'notRegularFile' });
    await expect(append('x')).rejects.toThrow('it is not open');
  });

  it('knows when it was written to, cut or removed by another', async () => {
    expect(file.isIntact()).toBe(false);
    await file.open(1);
    await append('one\n');
    expect(file.isIntact()).toBe(true);
    appendFileSync(files.pathOf(1), 'x');
    expect(file.isIntact()).toBe(false);
    truncateSync(files.pathOf(1), 4);
    expect(file.isIntact()).toBe(true);
    rmSync(files.pathOf(1));
    expect(file.isIntact()).toBe(false);
  });
});
