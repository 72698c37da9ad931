import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NumberedFiles, type FileLine, type LineOptions } from '../index.js';

describe('numbered files', () => {
  let folder: string;
  let files: NumberedFiles;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'numbered-files-'));
    files = new NumberedFiles({ folder, prefix: 'log.of.x', suffix: 'jsonl', digits: 3 });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function lines(options: Partial<LineOptions> = {}): Promise<FileLine[]> {
    const found: FileLine[] = [];
    for await (const some of files.lines(1, { maxLineBytes: 100, ...options })) found.push(...some);
    return found;
  }
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

  it('are listed by number, without what only looks like one', async () => {
    for (const number of [1000, 2, 999]) writeFileSync(files.pathOf(number), '');
    for (const name of ['log.of.x.1.jsonl', 'log.of.x.0001.jsonl', 'log.of.x.003.jsonl.bak'])
      writeFileSync(path.join(folder, name), '');
    for (const name of ['log.of.y.003.jsonl', 'log.of.x.jsonl', 'log.of.x.-03.jsonl'])
      writeFileSync(path.join(folder, name), '');
    expect(await files.numbers()).toEqual([2, 999, 1000]);
    expect(files.nameOf(1000)).toBe('log.of.x.1000.jsonl');
  });

  it('have no order where there is no folder', async () => {
    rmSync(folder, { recursive: true });
    await expect(files.numbers()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('are removed as far as that can be done', async () => {
    for (const number of [1, 2, 3]) writeFileSync(files.pathOf(number), '');
    await files.remove([1, 7, 3]);
    expect(readdirSync(folder)).toEqual(['log.of.x.002.jsonl']);
  });

  it('are read line by line, also across the chunks in which they are read', async () => {
    const texts = Array.from({ length: 30_000 }, (_, index) => `line ${index} ö`);
    writeFileSync(files.pathOf(1), `${texts.join('\n')}\nhalf`);
    const found = await lines();
    expect(found.map(({ text }) => text)).toEqual([...texts, 'half']);
    expect(found[1]).toMatchObject({ number: 2, sizeBytes: 9, isEnded: true, endBytes: 20 });
    expect(found[1]?.sha256).toBe(sha256('line 1 ö'));
    const sizeBytes = Buffer.byteLength(`${texts.join('\n')}\nhalf`);
    expect(found.at(-1)).toMatchObject({ number: 30_001, isEnded: false, endBytes: sizeBytes });
  });

  it('give of a line beyond the limit its digest and no text', async () => {
    writeFileSync(files.pathOf(1), `${'x'.repeat(200_000)}\n${'y'.repeat(100)}\n`);
    const [long, short] = await lines();
    expect(long).toMatchObject({ text: undefined, sizeBytes: 200_000 });
    expect(long?.sha256).toBe(sha256('x'.repeat(200_000)));
    expect(short).toMatchObject({ text: 'y'.repeat(100), endBytes: 200_102 });
  });

  it('are read at their end alone, from the first line that begins there', async () => {
    writeFileSync(files.pathOf(1), 'one\ntwo\nthree\n');
    expect(await lines({ lastBytes: 8 })).toMatchObject([
      { number: 1, text: 'three', endBytes: 14 },
    ]);
    expect(await lines({ lastBytes: 3 })).toEqual([]);
    expect(await lines({ lastBytes: 100 })).toHaveLength(3);
  });

  it('may go while they are read, unless one must be there', async () => {
    expect(await lines()).toEqual([]);
    await expect(lines({ mustExist: true })).rejects.toMatchObject({ code: 'notFound' });
  });

  it('are not read through a link', async () => {
    const other = path.join(folder, 'other');
    appendFileSync(other, 'secret\n');
    symlinkSync(other, files.pathOf(1));
    await expect(lines()).rejects.toMatchObject({ code: 'notTrusted' });
  });
});
