import { openTrustedFile, readWhole, replaceFile } from '@wins/trusted-files';
import { fileTrustContract } from '@wins/trusted-files/testing';
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { loadSystemLibrary } from '../win32/calls/system-library.js';
import { descriptorFromText } from './file-security.js';
import { windowsFileTrust } from './windows-file-trust.js';

const { bind } = loadSystemLibrary('advapi32.dll');
// https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-setfilesecurityw
const setFileSecurityW = bind<(file: string, information: number, descriptor: Buffer) => number>(
  'int __stdcall SetFileSecurityW(str16 file, uint32_t information, void *descriptor)',
);
const trust = windowsFileTrust();

describe('the trust of Windows under the contract of trusts', () => {
  const contract = fileTrustContract({
    trust,
    letOthersWrite: (open) => {
      assert.notEqual(setFileSecurityW(open, 4, descriptorFromText('D:(A;OICI;FA;;;WD)')), 0);
    },
    // Wine makes no junctions.
    ...(process.env['WINEPREFIX'] === undefined && {
      linkFolder: (target: string, link: string) => symlinkSync(target, link, 'junction'),
    }),
  });
  for (const [name, check] of contract) it(name, check);
});

describe('a file of a private folder', () => {
  it('is written, replaced and opened again, under either separator', async () => {
    const root = mkdtempSync(path.join(tmpdir(), 'wins-'));
    const folder = path.join(root, 'state');
    trust.ensurePrivateFolder(folder.replaceAll('\\', '/'));
    const file = path.join(folder, 'file');
    await replaceFile(file, 'old');
    await replaceFile(file, 'new');
    const opened = await openTrustedFile(file.replaceAll('\\', '/'), trust);
    assert.equal((await readWhole(opened, { maxBytes: 3 })).toString(), 'new');
    await opened.handle.close();
    assert.deepEqual(readdirSync(folder), ['file']);
    rmSync(root, { recursive: true });
  });
});
