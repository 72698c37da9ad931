import { canonicalPath, type CanonicalPath } from '@wins/base';
import { fileFingerprint, posixFileTrust } from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { examineProgram, type FileGuard } from './examine-program.js';

const CONTENT = 'x'.repeat(3_000_000);
const digest = (algorithm: string, text: string) =>
  createHash(algorithm).update(text).digest('hex');

describe('a watched program', () => {
  const guard: FileGuard = {
    assertTrustedFile: (program) => {
      const distrust = posixFileTrust().distrustOfFile(program);
      if (distrust === undefined) return Promise.resolve();
      return Promise.reject(new Error(`cannot run it: ${distrust.found}; wanted another`));
    },
  };
  const { signal } = new AbortController();
  let folder: string;
  let file: CanonicalPath;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-examine-')));
    file = canonicalPath(path.join(folder, 'wins'));
    writeFileSync(file, CONTENT, { mode: 0o644 });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const examine = (with_: FileGuard = guard, state = fileFingerprint(file)) =>
    examineProgram(file, state, with_, signal);

  it('is told by its digests', async () => {
    expect(await examine()).toEqual({
      kind: 'program',
      sha1: digest('sha1', CONTENT),
      sha256: digest('sha256', CONTENT),
    });
  });

  it.each([
    [
      'a link',
      () => {
        renameSync(file, `${file}.real`);
        symlinkSync(`${file}.real`, file);
      },
    ],
    [
      'a folder',
      () => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
    ['a file that the group may write', () => chmodSync(file, 0o664)],
    ['a file in a folder that others may write', () => chmodSync(folder, 0o757)],
    ['a file in a sticky folder that others may write', () => chmodSync(folder, 0o1777)],
  ])('is not %s', async (_what, change) => {
    change();
    expect(await examine()).toEqual({
      kind: 'unfit',
      found: expect.stringMatching(/^cannot .*; wanted /) as string,
    });
  });

  it('is not accepted if it was replaced while it was judged or read', async () => {
    const replace = async (): Promise<void> => {
      writeFileSync(`${file}.next`, CONTENT);
      renameSync(`${file}.next`, file);
      await Promise.resolve();
    };
    const state = fileFingerprint(file);
    const during: FileGuard = { ...guard, assertTrustedFile: replace };
    expect(await examine(during, state)).toEqual({ kind: 'moved' });
  });

  it('is not one that has gone', async () => {
    const state = fileFingerprint(file);
    rmSync(file);
    expect(fileFingerprint(file)).toBe('gone');
    expect(await examine(guard, state)).toEqual({ kind: 'moved' });
  });

  it('is held while it is read, where that can be, and let go of', async () => {
    const calls: string[] = [];
    const hold = (): ReturnType<NonNullable<FileGuard['holdFile']>> => {
      calls.push('held');
      return Promise.resolve({ close: () => calls.push('closed') });
    };
    expect(await examine({ ...guard, holdFile: hold })).toMatchObject({ kind: 'program' });
    expect(calls).toEqual(['held', 'closed']);
    const busy = () => Promise.reject(new Error('somebody writes it'));
    expect(await examine({ ...guard, holdFile: busy })).toEqual({
      kind: 'unfit',
      found: 'somebody writes it',
    });
  });

  it('is not read any more once nobody wants it', async () => {
    await expect(
      examineProgram(file, fileFingerprint(file), guard, AbortSignal.abort(new Error('enough'))),
    ).rejects.toThrow('enough');
  });
});
