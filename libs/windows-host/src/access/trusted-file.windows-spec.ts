import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { descriptorFromText } from './file-security.js';
import { windowsFileTrust } from './windows-file-trust.js';
import { readFileFacts } from './trusted-file-judgement.js';
import { advapi32 } from '../win32/advapi32.js';
import { systemPath } from '../win32/calls/system-library.js';

const letEverybodyWrite = (file: string): void => {
  const descriptor = descriptorFromText('D:(A;OICI;FA;;;WD)');
  assert.notEqual(advapi32.SetFileSecurityW(file, 4, descriptor), 0);
};

const trust = windowsFileTrust();
const distrustOfFile = (file: string) => trust.distrustOfFile(file);
const directory = mkdtempSync(path.join(tmpdir(), 'wins-'));
after(() => rmSync(directory, { recursive: true }));

describe('the place of a file', () => {
  const folder = path.join(directory, 'programs');
  const file = path.join(folder, 'x.exe');
  const fresh = (): void => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    writeFileSync(file, '');
  };

  it('is trusted where only administrators and this account can write', () => {
    fresh();
    assert.equal(distrustOfFile(systemPath('cmd.exe')), undefined);
    assert.equal(distrustOfFile(file), undefined);
    assert.equal(distrustOfFile(file.toUpperCase()), undefined);
  });

  it('is not trusted if everybody can write to it or to a folder above it', () => {
    for (const open of [file, folder, directory]) {
      fresh();
      letEverybodyWrite(open);
      const distrust = distrustOfFile(file);
      assert.equal(distrust?.rule, 'A7 writable by other users');
      assert.equal(distrust.path, open);
      assert.match(distrust.found, /^S-1-1-0 can change it$/);
    }
    const descriptor = descriptorFromText('D:(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)');
    assert.notEqual(advapi32.SetFileSecurityW(directory, 4, descriptor), 0);
  });

  it('is not for a folder, and not-found when nothing is there', () => {
    fresh();
    assert.equal(distrustOfFile(folder)?.rule, 'A7 not a regular file');
    assert.throws(() => distrustOfFile(path.join(folder, 'y.exe')), { code: 'notFound' });
    assert.throws(() => distrustOfFile(path.join(directory, 'none', 'y.exe')), {
      code: 'notFound',
    });
  });

  it('is not trusted under a path that the system reads as another one', () => {
    fresh();
    for (const odd of [`${file}.`, `${file} `, folder + '.\\x.exe']) {
      assert.equal(distrustOfFile(odd)?.rule, 'A7 another path', odd);
    }
  });

  it('is judged under each spelling that the system resolves to it', () => {
    const same = [
      `${folder}\\.\\x.exe`,
      `${folder}\\..\\programs//x.exe`,
      file.replaceAll('\\', '/'),
    ];
    fresh();
    for (const written of same) assert.equal(distrustOfFile(written), undefined, written);
    letEverybodyWrite(folder);
    for (const written of same) assert.equal(distrustOfFile(written)?.path, folder, written);
  });
});

describe('a private folder', () => {
  const folder = path.join(directory, 'a', 'b', 'state');

  it('is made with those above it, for nobody else, and found again', () => {
    trust.ensurePrivateFolder(folder);
    trust.ensurePrivateFolder(`${folder.replaceAll('\\', '/')}/`);
    const { sddl, isDirectory } = readFileFacts(folder);
    assert.equal(isDirectory, true);
    assert.match(sddl, /;;;SY\)/);
    assert.doesNotMatch(sddl, /;;;(?:WD|BU|AU|S-1-1-0)\)/);
    writeFileSync(path.join(folder, 'x'), '');
  });

  it('is refused when others can write in it, and when it is a file', () => {
    letEverybodyWrite(folder);
    assert.throws(() => trust.ensurePrivateFolder(folder), {
      code: 'notTrusted',
      message: /icacls .* \/remove \*S-1-1-0 /,
    });
    const file = path.join(directory, 'file');
    writeFileSync(file, '');
    assert.throws(() => trust.ensurePrivateFolder(file), { message: /it is not a folder/ });
  });
});
