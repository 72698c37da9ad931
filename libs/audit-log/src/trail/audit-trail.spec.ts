import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AuditTrail } from './audit-trail.js';

describe('the copies of decisions in the log of the daemon', () => {
  it('are those of records; allowed ones that are only counted have none', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'audit-trail-'));
    const copied: string[] = [];
    const copy = (facts: object): void => {
      if ('verdict' in facts) copied.push(String(facts.verdict));
    };
    const log = { isLevelEnabled: () => true, info: copy, warn: copy, error: copy };
    const trail = new AuditTrail({ directory: path.join(folder, 'audit') }, log);
    await trail.open(() => undefined);
    for (const verdict of ['allowed', 'refused']) {
      for (let round = 0; round < 30; round += 1)
        void trail.decided({ action: 'connect', verdict, requester: 'tunnel:1', port: 80 });
    }
    expect(copied.filter((verdict) => verdict === 'refused')).toHaveLength(30);
    // A second may have begun anew meanwhile.
    expect([10, 20]).toContain(copied.filter((verdict) => verdict === 'allowed').length);
    await trail.close();
    await rm(folder, { recursive: true });
  });
});
