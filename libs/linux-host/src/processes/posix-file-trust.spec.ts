import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixDistrustOf } from './posix-file-trust.js';

const OWN_UID = process.getuid?.() ?? 0;

describe('trust in a file of a POSIX system', () => {
  let root: string;
  let directory: string;
  let file: string;

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'linux-host-'));
    directory = path.join(root, 'bin');
    file = path.join(directory, 'tool');
    mkdirSync(directory, { mode: 0o755 });
    writeFileSync(file, '', { mode: 0o755 });
  });

  afterEach(() => rmSync(root, { recursive: true }));

  async function ruleFor(target: string): Promise<string | undefined> {
    return (await posixDistrustOf(target, 'file', OWN_UID))?.rule;
  }

  it('trusts our own file below the sticky /tmp, and a program of the system', async () => {
    await expect(ruleFor(file)).resolves.toBeUndefined();
  });

  it('refuses a symbolic link as the file or as any parent (A7)', async () => {
    symlinkSync(file, path.join(directory, 'link'));
    symlinkSync(directory, path.join(root, 'linked'));
    await expect(ruleFor(path.join(directory, 'link'))).resolves.toBe('A7 symbolic link');
    await expect(ruleFor(path.join(root, 'linked/tool'))).resolves.toBe('A7 symbolic link');
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

  it('fails as the system does for a missing file', async () => {
    await expect(ruleFor(path.join(directory, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('accepts a second hard link, since it gives nobody a right that the mode does not give (A8)', async () => {
    linkSync(file, path.join(root, 'second'));
    await expect(ruleFor(file)).resolves.toBeUndefined();
  });

  it('refuses a hard link to, or a directory of, another user (A7, A8)', async () => {
    const foreign = path.join(root, 'foreign');
    const hostile = path.join(directory, 'hostile');
    writeFileSync(foreign, '');
    linkSync(foreign, hostile);
    // Only root can give a file away; anybody else can at least ask in the name of another user.
    const askingUid = OWN_UID === 0 ? 0 : OWN_UID + 1;
    const refused = { rule: 'A7 owned by another user' };
    if (OWN_UID === 0) chownSync(foreign, 65534, 65534);
    await expect(posixDistrustOf(hostile, 'file', askingUid)).resolves.toMatchObject(refused);
    if (OWN_UID === 0) chownSync(directory, 65534, 65534);
    await expect(posixDistrustOf(file, 'file', askingUid)).resolves.toMatchObject(refused);
  });
});
