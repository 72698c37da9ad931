import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FileTrust } from '../trust/file-trust.js';
import { TrustedFileError } from '../trusted-file-error.js';

/** The `FileTrust` under test, and operations that prepare the files for its tests. */
export interface FileTrustSubject {
  readonly trust: FileTrust;
  /** Lets every user write. */
  readonly letOthersWrite: (path: string) => void;
  /** Absent where tests cannot create links. */
  readonly linkFolder?: (target: string, path: string) => void;
}

/** Returns the contract tests of a `FileTrust`, for `test.each`. Rules that differ between systems are not tested. */
export function fileTrustContract(
  subject: FileTrustSubject,
): readonly (readonly [name: string, check: () => void])[] {
  const { trust, letOthersWrite, linkFolder } = subject;
  const inTestFolder = (check: (made: TestFolder) => void) => (): void => {
    const made = new TestFolder();
    try {
      check(made);
    } finally {
      made.close();
    }
  };
  const links = (check: (made: TestFolder, link: NonNullable<typeof linkFolder>) => void) =>
    linkFolder === undefined ? undefined : inTestFolder((made) => check(made, linkFolder));

  const contract: Readonly<Record<string, (() => void) | undefined>> = {
    'trusts a file and a folder that only we can change': inTestFolder(({ folder, file }) => {
      assert.equal(trust.distrustOfFile(file), undefined);
      assert.equal(trust.distrustOfFolder(folder), undefined);
    }),
    'names the step that others can write to: the file, its folder, or one above': inTestFolder(
      ({ root, folder, file, refresh }) => {
        for (const open of [file, folder, root]) {
          refresh();
          letOthersWrite(open);
          const distrust = trust.distrustOfFile(file);
          assert.equal(distrust?.path, open);
          assert.equal(distrust.rule, 'A7 writable by other users');
          assert.equal(trust.distrustOfFolder(folder)?.path, open === file ? undefined : open);
        }
      },
    ),
    'takes no folder for a file, and no file for a folder': inTestFolder(({ folder, file }) => {
      assert.equal(trust.distrustOfFile(folder)?.path, folder);
      assert.equal(trust.distrustOfFolder(file)?.path, file);
      assert.equal(trust.distrustOfFile(path.join(file, 'x'))?.path, file);
    }),
    'fails with notFound where nothing is': inTestFolder(({ folder }) => {
      for (const missing of ['none', path.join('none', 'none')]) {
        const location = path.join(folder, missing);
        assert.throws(() => trust.distrustOfFile(location), { code: 'notFound' });
        assert.throws(() => trust.distrustOfFolder(location), { code: 'notFound' });
      }
    }),
    'refuses a link in the path, whether it is the last step or one above': links(
      ({ root, folder }, link) => {
        const linked = path.join(root, 'linked');
        link(folder, linked);
        assert.equal(trust.distrustOfFile(path.join(linked, 'file'))?.path, linked);
        assert.equal(trust.distrustOfFolder(linked)?.path, linked);
        assert.throws(() => trust.ensurePrivateFolder(path.join(linked, 'private')), {
          code: 'notTrusted',
          at: linked,
        });
      },
    ),
    'makes a private folder with those above it, and finds it again': inTestFolder(({ folder }) => {
      const made = path.join(folder, 'a', 'b', 'private');
      assert.equal(trust.distrustOfPrivateFolder(made), undefined);
      assert.throws(() => trust.distrustOfFolder(made), { code: 'notFound' });
      trust.ensurePrivateFolder(made);
      assert.equal(trust.distrustOfPrivateFolder(made), undefined);
      trust.ensurePrivateFolder(made);
      assert.equal(trust.distrustOfFolder(made), undefined);
      writeFileSync(path.join(made, 'x'), '');
    }),
    'refuses a private folder that others can write to, and leaves it as it is': inTestFolder(
      ({ folder }) => {
        const made = path.join(folder, 'private');
        trust.ensurePrivateFolder(made);
        letOthersWrite(made);
        assert.equal(trust.distrustOfPrivateFolder(made)?.path, made);
        for (const _again of [1, 2]) {
          assert.throws(() => trust.ensurePrivateFolder(made), {
            code: 'notTrusted',
            at: made,
            rule: 'A7 writable by other users',
          });
        }
      },
    ),
    'refuses a private folder below one that others can write to': inTestFolder(({ folder }) => {
      letOthersWrite(folder);
      const below = path.join(folder, 'private');
      assert.equal(trust.distrustOfPrivateFolder(below)?.path, folder);
      assert.throws(() => trust.ensurePrivateFolder(below), { code: 'notTrusted', at: folder });
    }),
    'refuses a file in the place of a private folder': inTestFolder(({ file }) => {
      assert.equal(trust.distrustOfPrivateFolder(file)?.path, file);
      assert.equal(trust.distrustOfPrivateFolder(path.join(file, 'private'))?.path, file);
      assert.throws(
        () => trust.ensurePrivateFolder(file),
        (error) => error instanceof TrustedFileError && error.code === 'notTrusted',
      );
    }),
  };
  return Object.entries(contract).flatMap(([name, check]) => (check ? [[name, check]] : []));
}

/** Creates `root/folder/file`, which other users cannot change. */
class TestFolder {
  readonly root = mkdtempSync(path.join(tmpdir(), 'wins-trust-'));
  readonly folder = path.join(this.root, 'folder');
  readonly file = path.join(this.folder, 'file');

  constructor() {
    this.refresh();
  }

  readonly refresh = (): void => {
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { mode: 0o755 });
    writeFileSync(this.file, '', { mode: 0o644 });
  };

  close(): void {
    rmSync(this.root, { recursive: true });
  }
}
