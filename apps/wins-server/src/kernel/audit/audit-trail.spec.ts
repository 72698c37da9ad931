import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readAuditLog } from './read-audit-log.js';
import { AuditTrail, type TrailLog } from './audit-trail.js';
import type { Decision } from './record-policy.js';

describe('the trail of decisions', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'wins-trail-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('writes out the first ten that are allowed in a second and counts the others, and tells of every one', async () => {
    const lines: [object, string][] = [];
    const told: Decision[] = [];
    const write = (facts: object, message: string): void => void lines.push([facts, message]);
    const logger: TrailLog = {
      isLevelEnabled: () => true,
      ...{ info: write, warn: write, error: write },
    };
    const directory = path.join(folder, 'audit');
    const onDecision = (decision: Decision): number => told.push(decision);
    const trail = new AuditTrail({ directory, onDecision }, logger);
    await trail.open(() => undefined);
    lines.length = 0;
    const connect = { action: 'connect', verdict: 'allowed', requester: 'tunnel:1', port: 80 };
    const refused = { ...connect, verdict: 'refused', code: 'pathNotAllowed' };
    for (let n = 0; n < 50; n += 1) void trail.decided(connect, 'a client');
    for (let n = 0; n < 20; n += 1) void trail.decided(refused, 'a client');
    await trail.close();

    const copies = lines.filter(([, message]) => message === 'allowed to connect to port 80');
    const group = { kind: 'connect', client: 'a client', verdict: 'allowed', count: 40 };
    expect([copies.length, lines.length, told.length]).toEqual([10, 31, 70]);
    const groups: unknown = expect.arrayContaining([group]);
    expect(lines.at(-1)).toEqual([
      expect.objectContaining({ count: 40, groups }),
      'allowed more than is written out',
    ]);
    const kinds: unknown[] = [];
    for await (const { kind } of readAuditLog(directory)) kinds.push(kind);
    expect(kinds).toEqual(['opened', ...Array<string>(20).fill('connect'), 'counted']);
  });
});
