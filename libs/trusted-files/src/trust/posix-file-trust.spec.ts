import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixFileTrust } from '../index.js';
import { fileTrustContract } from '../testing/index.js';

const OWN_UID = process.geteuid?.() ?? 0;
const trust = posixFileTrust();

describe('the trust of POSIX systems', () => {
  const contract = fileTrustContract({
    trust,
    letOthersWrite: (open) => chmodSync(open, 0o777),
    linkFolder: symlinkSync,
  });
  test.each(contract)('%s', (_name, check) => check());
});

describe('the place of a file', () => {
  let root: string;
  let directory: string;
  let file: string;

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'wins-place-'));
    directory = path.join(root, 'bin');
    file = path.join(directory, 'tool');
    mkdirSync(directory, { mode: 0o755 });
    writeFileSync(file, '', { mode: 0o755 });
  });

  afterEach(() => rmSync(root, { recursive: true }));

  const ruleFor = (target: string, options = {}) => trust.distrustOfFile(target, options)?.rule;

  it('is trusted below the sticky /tmp', () => {
    expect(ruleFor(file)).toBeUndefined();
    expect(lstatSync('/tmp').mode & 0o1002).toBe(0o1002);
  });

  it('refuses a symbolic link as the file or as any parent (A7)', () => {
    symlinkSync(file, path.join(directory, 'link'));
    symlinkSync(directory, path.join(root, 'linked'));
    expect(ruleFor(path.join(directory, 'link'))).toBe('A7 symbolic link');
    expect(ruleFor(path.join(root, 'linked/tool'))).toBe('A7 symbolic link');
    expect(ruleFor(`${root}/linked/../bin/tool`)).toBe('A7 symbolic link');
  });

  it.each([0o775, 0o757, 0o777])('refuses a parent with mode %o (A7)', (mode) => {
    chmodSync(directory, mode);
    expect(ruleFor(file)).toBe('A7 writable by other users');
  });

  it('refuses a file that others can write, even below a sticky directory (A7)', () => {
    chmodSync(root, 0o1777);
    expect(ruleFor(file)).toBeUndefined();
    chmodSync(file, 0o1757);
    expect(ruleFor(file)).toBe('A7 writable by other users');
  });

  it('refuses a file in a sticky directory, where others can put things beside it', () => {
    chmodSync(directory, 0o1777);
    expect(trust.distrustOfFile(file)).toMatchObject({ path: directory });
  });

  it('accepts a second hard link, since it gives nobody a right that the mode does not give (A8)', () => {
    linkSync(file, path.join(root, 'second'));
    expect(ruleFor(file)).toBeUndefined();
  });

  it('refuses a hard link to, or a directory of, another user (A7, A8)', () => {
    const foreign = path.join(root, 'foreign');
    const hostile = path.join(directory, 'hostile');
    writeFileSync(foreign, '');
    linkSync(foreign, hostile);
    // Only root can give a file to another user. Without root, the test judges for another user id instead.
    const asked = posixFileTrust(OWN_UID === 0 ? 0 : OWN_UID + 1);
    if (OWN_UID === 0) chownSync(foreign, 65534, 65534);
    expect(asked.distrustOfFile(hostile)?.rule).toBe('A7 owned by another user');
    if (OWN_UID === 0) chownSync(directory, 65534, 65534);
    expect(asked.distrustOfFile(file)?.rule).toBe('A7 owned by another user');
  });

  it('takes the path as it is, relative and with dots', () => {
    const relative = path.relative(process.cwd(), file);
    expect(ruleFor(relative)).toBeUndefined();
    expect(ruleFor(`${directory}/.//../bin/tool`)).toBeUndefined();
    expect(ruleFor(`${file}/../tool`)).toBe('A7 not a regular file');
    expect(ruleFor('/')).toBe('A7 not a regular file');
  });

  describe('where links are followed', () => {
    const follow = { followLinks: true };

    it.each([
      ['absolute', () => file],
      ['relative', () => '../bin/tool'],
      ['over another link', () => '../linked/tool'],
    ])('is what an %s link of ours leads to', (_kind, target) => {
      mkdirSync(path.join(root, 'etc'));
      symlinkSync('bin', path.join(root, 'linked'));
      symlinkSync(target(), path.join(root, 'etc/config'));
      expect(ruleFor(path.join(root, 'etc/config'), follow)).toBeUndefined();
      chmodSync(directory, 0o757);
      const distrust = trust.distrustOfFile(path.join(root, 'etc/config'), follow);
      expect(distrust).toMatchObject({ path: directory, rule: 'A7 writable by other users' });
    });

    it('refuses a link that lies where others can write, though its target is safe', () => {
      const open = path.join(root, 'open');
      mkdirSync(open);
      symlinkSync(file, path.join(open, 'config'));
      chmodSync(open, 0o777);
      const distrust = trust.distrustOfFile(path.join(open, 'config'), follow);
      expect(distrust?.path).toBe(open);
    });

    it('refuses a link of another user', () => {
      const hostile = path.join(root, 'hostile');
      symlinkSync(file, hostile);
      if (OWN_UID !== 0) return;
      // In a sticky folder every user can create the link.
      chmodSync(root, 0o1777);
      expect(ruleFor(hostile, follow)).toBeUndefined();
      rmSync(hostile);
      process.seteuid?.(65534);
      try {
        symlinkSync(file, hostile);
      } finally {
        process.seteuid?.(0);
      }
      expect(ruleFor(hostile, follow)).toBe('A7 owned by another user');
    });

    it('refuses a loop, and fails with notFound for a link to nothing', () => {
      symlinkSync('loop', path.join(root, 'loop'));
      symlinkSync('none', path.join(root, 'dangling'));
      expect(ruleFor(path.join(root, 'loop'), follow)).toBe('A7 symbolic link');
      expect(() => ruleFor(path.join(root, 'dangling'), follow)).toThrow(
        expect.objectContaining({ code: 'notFound' }) as Error,
      );
    });
  });

  describe('that is a private folder', () => {
    it('is made for its owner alone, whatever the creation mask says', () => {
      const umask = process.umask(0);
      try {
        trust.ensurePrivateFolder(path.join(root, 'a/b'));
      } finally {
        process.umask(umask);
      }
      expect(lstatSync(path.join(root, 'a')).mode & 0o777).toBe(0o700);
      expect(lstatSync(path.join(root, 'a/b')).mode & 0o777).toBe(0o700);
    });

    it.each([0o750, 0o705, 0o711])('is refused with mode %o, and stays so', (mode) => {
      chmodSync(directory, mode);
      expect(() => trust.ensurePrivateFolder(directory)).toThrow(/chmod 0700/);
      expect(lstatSync(directory).mode & 0o777).toBe(mode);
    });

    it('is not made where a link leads, nor in a folder that others can write to', () => {
      symlinkSync(directory, path.join(root, 'linked'));
      expect(() => trust.ensurePrivateFolder(path.join(root, 'linked/x'))).toThrow(/symbolic link/);
      chmodSync(directory, 0o777);
      expect(() => trust.ensurePrivateFolder(path.join(directory, 'x'))).toThrow(/0777/);
      expect(readdirSync(directory)).toEqual(['tool']);
    });
  });
});
