import { parseSecurityDescriptor } from '@wins/base';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { descriptorFromText, descriptorText, fileSecurity } from './file-security.js';
import { DACL_SECURITY_INFORMATION } from '../win32/advapi32.js';

describe('the security of files', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-'));
  after(() => rmSync(folder, { recursive: true }));

  it('is told for a file and for a folder, with owner and list', () => {
    const file = path.join(folder, 'a b.txt');
    writeFileSync(file, '');
    for (const location of [file, folder]) {
      const { owner, entries } = parseSecurityDescriptor(fileSecurity(location));
      assert.match(owner ?? '', /^S-1-5-/);
      assert.ok((entries ?? []).length > 0);
    }
  });

  it('is not-found when there is no such file', () => {
    assert.throws(() => fileSecurity(path.join(folder, 'absent')), {
      code: 'notFound',
      message: /absent/,
    });
  });
});

describe('the text of a descriptor', () => {
  it('survives the way through the binary form', () => {
    const sddl = 'D:P(A;;GA;;;BA)(A;;GA;;;SY)';
    const text = descriptorText(descriptorFromText(sddl), DACL_SECURITY_INFORMATION, 'wrote it');
    assert.equal(text, sddl);
  });

  it('is refused when the system does not understand it', () => {
    assert.throws(() => descriptorFromText('D:(nonsense)'), {
      functionName: 'ConvertStringSecurityDescriptorToSecurityDescriptorW',
    });
  });
});
