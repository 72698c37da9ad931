import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readAuditLog } from './verify-audit-log.js';
import { createLoggerTo } from '../log/logger.js';
import { auditOptions } from '../../testing/private-folder.js';
import { AuditTrail } from './audit-trail.js';
import type { Decision } from './decision.js';

describe('the trail of decisions', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'wins-trail-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('writes out the first ten that are allowed in a second and counts the others, and tells of every one', async () => {
    const lines: { readonly msg: string }[] = [];
    const told: Decision[] = [];
    const logger = createLoggerTo(
      { debug: false, quiet: false },
      { write: (line) => lines.push(JSON.parse(line) as { msg: string }) },
    );
    const directory = path.join(folder, 'audit');
    const onDecision = (decision: Decision): number => told.push(decision);
    const trail = new AuditTrail({ ...auditOptions(directory), onDecision }, logger);
    await trail.open(() => undefined);
    lines.length = 0;
    const connect = {
      action: 'connect',
      verdict: 'allowed',
      requester: 'tunnel:1',
      port: 80,
    } as const;
    const refused = { ...connect, verdict: 'refused', code: 'pathNotAllowed' } as const;
    for (let n = 0; n < 50; n += 1) void trail.decided(connect, 'a client');
    for (let n = 0; n < 20; n += 1) void trail.decided(refused, 'a client');
    await trail.close();

    const copies = lines.filter(({ msg }) => msg === 'allowed to connect to port 80');
    const group = { kind: 'connect', client: 'a client', verdict: 'allowed', count: 40 };
    expect([copies.length, lines.length, told.length]).toEqual([10, 31, 70]);
    const groups: unknown = expect.arrayContaining([group]);
    const msg = 'allowed more actions than this log lists';
    expect(lines.at(-1)).toMatchObject({ count: 40, groups, msg });
    const kinds: unknown[] = [];
    for await (const records of readAuditLog(directory))
      kinds.push(...records.map(({ kind }) => kind));
    expect(kinds).toEqual(['opened', ...Array<string>(20).fill('connect'), 'counted']);
  });
});
