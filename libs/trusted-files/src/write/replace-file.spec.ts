import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  copyPendingFile,
  hashFile,
  isHeld,
  moveFile,
  openRegularFile,
  removeLeftovers,
  replaceFile,
  TrustedFileError,
  whenNotHeld,
} from '../index.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'wins-write-'));
  file = path.join(folder, 'file');
});

afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (name: string) => statSync(name).mode & 0o7777;

describe('a file that is replaced', () => {
  it('is another one, with the new content, and nothing else is left', async () => {
    writeFileSync(file, 'old', { mode: 0o644 });
    const { ino } = statSync(file);
    await replaceFile(file, 'new');
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(statSync(file).ino).not.toBe(ino);
    expect(modeOf(file)).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('gets the mode and the owner that it is to have, whatever the creation mask says', async () => {
    const umask = process.umask(0o277);
    const { uid, gid } = statSync(folder);
    const modes: number[] = [];
    try {
      for (const options of [{}, { mode: 0o640 }, { mode: 0o4755, owner: { uid, gid } }]) {
        await replaceFile(file, 'new', options);
        modes.push(modeOf(file));
      }
    } finally {
      process.umask(umask);
    }
    expect(modes).toEqual([0o600, 0o640, 0o4755]);
  });

  it('replaces a symbolic link, and does not write through it', async () => {
    writeFileSync(path.join(folder, 'victim'), 'precious');
    symlinkSync('victim', file);
    await replaceFile(file, 'new');
    expect(readFileSync(path.join(folder, 'victim'), 'utf8')).toBe('precious');
    expect(readFileSync(file, 'utf8')).toBe('new');
  });

  it('refuses a temporary name that is taken, and leaves what has it', async () => {
    const temporary = path.join(folder, 'planted');
    symlinkSync('/etc/passwd', temporary);
    const replaced = replaceFile(file, 'new', { temporary });
    await expect(replaced).rejects.toMatchObject({ code: 'alreadyExists' });
    expect(readdirSync(folder)).toEqual(['planted']);
  });

  it('stays as it was, alone, when the new one cannot take its place or be written', async () => {
    mkdirSync(path.join(file, 'inside'), { recursive: true });
    await expect(replaceFile(file, 'x')).rejects.toMatchObject({ code: 'notRegularFile' });
    expect(readdirSync(folder)).toEqual(['file']);
    const long = path.join(folder, 'x'.repeat(250));
    await expect(replaceFile(long, 'x')).rejects.toMatchObject({
      code: 'unknown',
      found: 'the system reports ENAMETOOLONG',
    });
    await expect(replaceFile(path.join(folder, 'none', 'x'), '')).rejects.toMatchObject({
      code: 'notFound',
      cause: { code: 'ENOENT' },
    });
  });
});

describe('a file that is copied', () => {
  const copy = async (options: object = {}, target = path.join(folder, 'copy')) => {
    const source = await openRegularFile(file);
    const algorithms = ['sha256'] as const;
    try {
      return await copyPendingFile(source, target, { algorithms, mode: 0o700, ...options });
    } finally {
      await source.handle.close();
    }
  };

  beforeEach(() => writeFileSync(file, Buffer.alloc(700_000, 'copy')));

  it('has its name once it is placed, and the digest of its bytes before', async () => {
    const pending = await copy();
    expect(existsSync(path.join(folder, 'copy'))).toBe(false);
    await pending.place();
    await pending.discard();
    expect(await hashFile(path.join(folder, 'copy'), ['sha256'])).toEqual(pending.digests);
    expect(modeOf(path.join(folder, 'copy'))).toBe(0o700);
    expect(readdirSync(folder).sort()).toEqual(['copy', 'file']);
  });

  it('is of a path, of a link only where that is asked for', async () => {
    const link = path.join(folder, 'link');
    symlinkSync(file, link);
    const target = path.join(folder, 'copy');
    const options = { algorithms: ['sha256'], mode: 0o700 } as const;
    await (await copyPendingFile(file, target, options)).place();
    expect(readFileSync(target)).toEqual(readFileSync(file));
    await expect(copyPendingFile(link, target, options)).rejects.toMatchObject({
      code: 'notTrusted',
      path: link,
    });
    await (await copyPendingFile(link, target, { ...options, followLinks: true })).place();
    expect(readdirSync(folder).sort()).toEqual(['copy', 'file', 'link']);
  });

  it('is of the bytes that were written, though the source changes meanwhile', async () => {
    const onBlock = () => writeFileSync(file, Buffer.alloc(700_000, 'evil'));
    const pending = await copy({ onBlock });
    expect(await hashFile(pending.temporary, ['sha256'])).toEqual(pending.digests);
  });

  it.each([
    ['it is discarded', {}, 'discarded'],
    ['it is too large', { maxBytes: 699_999 }, 'tooLarge'],
    ['a block is refused', { onBlock: () => Promise.reject(new Error('no')) }, 'no'],
    [
      'its bytes are refused',
      {
        accept: () => {
          throw new Error('no');
        },
      },
      'no',
    ],
    ['it is aborted', { signal: AbortSignal.abort(new Error('no')) }, 'no'],
  ])('leaves nothing when %s', async (_why, options, outcome) => {
    const found = await copy(options).then(
      (pending) => pending.discard().then(() => 'discarded'),
      (error: unknown) =>
        error instanceof TrustedFileError ? error.code : (error as Error).message,
    );
    expect(found).toBe(outcome);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('is discarded when it cannot be placed, or must not', async () => {
    mkdirSync(path.join(folder, 'copy'));
    await expect((await copy()).place()).rejects.toMatchObject({ code: 'notRegularFile' });
    const beforeRename = (): void => {
      throw new Error('no');
    };
    await expect((await copy()).place({ beforeRename })).rejects.toThrow('no');
    expect(readdirSync(folder).sort()).toEqual(['copy', 'file']);
  });
});

it('moves a file over another, in another folder too', async () => {
  mkdirSync(path.join(folder, 'below'));
  const target = path.join(folder, 'below', 'target');
  writeFileSync(target, 'old');
  writeFileSync(file, 'new');
  await moveFile(file, target);
  expect(readFileSync(target, 'utf8')).toBe('new');
  await expect(moveFile(file, target)).rejects.toMatchObject({ code: 'notFound' });
});

it('removes what a crash left of the same file, and nothing that only looks similar', async () => {
  const names = ['.file.1-ab.tmp', '.file.2-ab.tmp', '.file.1-ab.tmpx', '.other.1-ab.tmp'];
  for (const name of names) writeFileSync(path.join(folder, name), '');
  mkdirSync(path.join(folder, '.file.1-cd.tmp'));
  utimesSync(path.join(folder, '.file.2-ab.tmp'), 1, 1);
  await removeLeftovers(
    file,
    /([12])-[a-f]{2}\.tmp/,
    ([, n], { mtimeMs }) => n === '1' || mtimeMs === 0,
  );
  expect(readdirSync(folder).sort()).toEqual(
    ['.file.1-ab.tmpx', '.file.1-cd.tmp', '.file.2-ab.tmp', '.other.1-ab.tmp'].sort(),
  );
  await removeLeftovers(path.join(folder, 'none', 'x'), /.*/, () => true);
});

describe('a file that another program holds', () => {
  const busy = Object.assign(new Error('busy'), { code: 'EBUSY', errno: -16 });

  it('is tried again until it is free', async () => {
    const outcomes = [busy, busy, undefined];
    const action = jest.fn(() => {
      const error = outcomes.shift();
      return error === undefined ? Promise.resolve('done') : Promise.reject(error);
    });
    await expect(whenNotHeld(action, 60_000)).resolves.toBe('done');
    expect(action).toHaveBeenCalledTimes(3);
  });

  it('is given up at once without patience, and for any other reason', async () => {
    await expect(whenNotHeld(() => Promise.reject(busy), 0)).rejects.toBe(busy);
    const other = new Error('other');
    const failing = whenNotHeld(() => Promise.reject(other), 60_000);
    await expect(failing).rejects.toBe(other);
  });

  it('is told by the errors of its system', () => {
    const denied = Object.assign(new Error('denied'), { code: 'EACCES' });
    expect([isHeld(denied, 'win32'), isHeld(denied, 'linux')]).toEqual([true, false]);
    expect([isHeld(busy, 'win32'), isHeld(busy, 'linux')]).toEqual([true, true]);
  });
});

it('does not follow the mode of what it replaces', async () => {
  writeFileSync(file, 'old');
  chmodSync(file, 0o666);
  await replaceFile(file, 'new', { mode: 0o640 });
  expect(modeOf(file)).toBe(0o640);
});
