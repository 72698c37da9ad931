import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openAuditLog, readAuditLog, verifyAuditLog } from '@wins/audit-log';

const directory = path.join(await mkdtemp(path.join(tmpdir(), 'example-')), 'audit');
const log = await openAuditLog({ directory });

// A program is started once this is on the disk.
await log.append({ kind: 'start', verdict: 'allowed', path: '/opt/tools/hello' });

// A refusal changes nothing, so nobody waits; and there may be thousands.
for (let times = 0; times < 5000; times += 1) {
  log.note({ kind: 'connect', verdict: 'refused' }, { client: 'tunnel:1', verdict: 'refused' });
}
await log.close();

const kinds = new Set<unknown>();
for await (const { kind } of readAuditLog(directory)) kinds.add(kind);
console.log([...kinds].join(', '));
console.log((await verifyAuditLog(directory)).ok);
