import { openTrustedFile, readWhole, replaceFile } from '@wins/trusted-files';
import { fileTrustContract } from '@wins/trusted-files/testing';
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { advapi32 } from '../win32/advapi32.js';
import { descriptorFromText } from './file-security.js';
import { windowsFileTrust } from './windows-file-trust.js';

const trust = windowsFileTrust();

describe('the trust of Windows under the contract of trusts', () => {
  const contract = fileTrustContract({
    trust,
    letOthersWrite: (open) => {
      assert.notEqual(
        advapi32.SetFileSecurityW(open, 4, descriptorFromText('D:(A;OICI;FA;;;WD)')),
        0,
      );
    },
    // Wine cannot create junctions.
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
