import { ConfigHistory } from '@wins/config';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { auditDirectoryOf } from '../kept-directory.js';
import { posix } from '../posix.js';
import { verifyAudit } from './audit.js';

it('reads the audit log of the config that is in force, although the file has become unusable', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-audit-'));
  try {
    const file = path.join(folder, 'config');
    const served = `listen: ${folder}/pipe\naudit: { directory: ${folder}/audit }\n`;
    await new ConfigHistory(file, posix.fileTrust()).add('served', Buffer.from(served));
    writeFileSync(file, 'white_list: [');
    const audit = { directory: `${folder}/audit` };
    const directory = auditDirectoryOf({ listen: `${folder}/pipe`, audit });
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    expect(await verifyAudit({ config: file })).toMatchObject({ value: { directory, ok: true } });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
