import { chmodSync, chownSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { assertTrustedPosixFile } from './posix-file-trust.js';
import { ProcessError } from '../process-error.js';
import { createPrivateDirectory, type PrivateDirectory } from '../testing/index.js';

const OWN_UID = process.getuid?.() ?? 0;

describe('assertTrustedPosixFile', () => {
  let root: PrivateDirectory;
  let directory: string;
  let file: string;

  beforeEach(() => {
    root = createPrivateDirectory();
    directory = path.join(root.path, 'bin');
    file = path.join(directory, 'tool');
    mkdirSync(directory, { mode: 0o755 });
    writeFileSync(file, '', { mode: 0o755 });
  });

  afterEach(() => root.close());

  async function ruleFor(target: string): Promise<string | undefined> {
    try {
      await assertTrustedPosixFile(target, OWN_UID);
      return undefined;
    } catch (error) {
      return error instanceof ProcessError ? (error.rule ?? error.code) : String(error);
    }
  }

  it('trusts our own file below the sticky /tmp, and a program of the system', async () => {
    await expect(ruleFor(file)).resolves.toBeUndefined();
  });

  it('refuses a symbolic link as the file or as any parent (A7)', async () => {
    symlinkSync(file, path.join(directory, 'link'));
    symlinkSync(directory, path.join(root.path, 'linked'));
    await expect(ruleFor(path.join(directory, 'link'))).resolves.toBe('A7 symbolic link');
    await expect(ruleFor(path.join(root.path, 'linked/tool'))).resolves.toBe('A7 symbolic link');
  });

  it.each([0o775, 0o757, 0o777])('refuses a parent with mode %o (A7)', async (mode) => {
    chmodSync(directory, mode);
    await expect(ruleFor(file)).resolves.toBe('A7 writable by other users');
  });

  it('refuses a file that others can write, even below a sticky directory (A7)', async () => {
    chmodSync(directory, 0o1777);
    await expect(ruleFor(file)).resolves.toBeUndefined();
    chmodSync(file, 0o1757);
    await expect(ruleFor(file)).resolves.toBe('A7 writable by other users');
  });

  it('refuses what is not a regular file', async () => {
    await expect(ruleFor(directory)).resolves.toBe('A7 not a regular file');
    await expect(ruleFor(path.join(file, 'x'))).resolves.toBe('A7 not a regular file');
    await expect(ruleFor('/dev/null')).resolves.toBe('A7 not a regular file');
  });

  it('says notFound for a missing file', async () => {
    await expect(ruleFor(path.join(directory, 'none'))).resolves.toBe('notFound');
  });

  it('accepts a second hard link, since it gives nobody a right that the mode does not give (A8)', async () => {
    linkSync(file, path.join(root.path, 'second'));
    await expect(ruleFor(file)).resolves.toBeUndefined();
  });

  it('refuses a hard link to, or a directory of, another user (A7, A8)', async () => {
    const foreign = path.join(root.path, 'foreign');
    const hostile = path.join(directory, 'hostile');
    writeFileSync(foreign, '');
    linkSync(foreign, hostile);
    // Only root can give a file away; anybody else can at least ask in the name of another user.
    const askingUid = OWN_UID === 0 ? 0 : OWN_UID + 1;
    const refused = { rule: 'A7 owned by another user' };
    if (OWN_UID === 0) chownSync(foreign, 65534, 65534);
    await expect(assertTrustedPosixFile(hostile, askingUid)).rejects.toMatchObject(refused);
    if (OWN_UID === 0) chownSync(directory, 65534, 65534);
    await expect(assertTrustedPosixFile(file, askingUid)).rejects.toMatchObject(refused);
  });
});
