import { posixFileTrust } from '@wins/trusted-files';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { StateFile, type StateFileOptions } from '../index.js';

interface Count {
  readonly format: 1;
  readonly count: number;
}

function parse(json: unknown): Count {
  const { format, count } = json as Partial<Count>;
  if (format !== 1 || typeof count !== 'number') throw new Error('this is no count');
  return { format, count };
}

describe('a state file', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'state-file-'));
    file = path.join(folder, 'count.json');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const state = (options: Partial<StateFileOptions<Count>> = {}): StateFile<Count> =>
    new StateFile({
      path: file,
      maxBytes: 1024,
      parse,
      damaged: (cause) => {
        throw new Error('damaged', { cause });
      },
      ...options,
    });

  it('gives back what was written, to another process too', async () => {
    await state().write({ format: 1, count: 1 });
    await state().write({ format: 1, count: 2 });
    expect(await state().read()).toEqual({ format: 1, count: 2 });
    expect(readdirSync(folder)).toEqual(['count.json']);
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('has no value before the first, and after it is removed', async () => {
    expect(await state().read()).toBeUndefined();
    await state().write({ format: 1, count: 1 });
    await state().remove();
    await state().remove();
    expect([existsSync(file), await state().read()]).toEqual([false, undefined]);
  });

  it.each([
    ['no JSON', '{"format":1,"cou', 'SyntaxError'],
    ['another version', '{"format":2,"count":1}', 'this is no count'],
    ['nothing', '', 'SyntaxError'],
    ['too much', `{"format":1,"count":1}${' '.repeat(1024)}`, 'it has more than 1024 bytes'],
  ])('with %s in it is damaged, and its owner says what counts', async (_what, text, cause) => {
    writeFileSync(file, text, { mode: 0o600 });
    const error: unknown = await state()
      .read()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: 'damaged' });
    expect(String((error as Error).cause)).toContain(cause);
    expect(await state({ damaged: () => undefined }).read()).toBeUndefined();
    expect(await state({ damaged: () => ({ format: 1, count: 0 }) }).read()).toMatchObject({
      count: 0,
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('is not read through a link, nor where others could have written it', async () => {
    const elsewhere = path.join(folder, 'elsewhere');
    writeFileSync(elsewhere, '{"format":1,"count":7}', { mode: 0o600 });
    symlinkSync(elsewhere, file);
    await expect(state().read()).rejects.toMatchObject({ code: 'notTrusted' });
    await state().write({ format: 1, count: 1 });
    expect(readFileSync(elsewhere, 'utf8')).toContain('7');
    if (process.platform === 'win32') return;
    const trust = posixFileTrust();
    expect(await state({ trust }).read()).toMatchObject({ count: 1 });
    chmodSync(file, 0o666);
    await expect(state({ trust }).read()).rejects.toMatchObject({ code: 'notTrusted' });
  });

  it('is replaced by the means that its owner gives', async () => {
    const written: string[] = [];
    const replace = (_path: string, content: Buffer): Promise<void> => {
      written.push(content.toString());
      return Promise.resolve();
    };
    await state({ replace }).write({ format: 1, count: 1 });
    expect(written).toEqual(['{\n  "format": 1,\n  "count": 1\n}\n']);
    expect(existsSync(file)).toBe(false);
  });
});
