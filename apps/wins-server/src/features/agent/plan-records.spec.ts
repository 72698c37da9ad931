import { FakeClock } from '@wins/base/testing';
import { AuditTrail } from '../../kernel/audit/audit-trail.js';
import { readAuditLog } from '../../kernel/audit/verify-audit-log.js';
import { createApplier, parsePlan, posixPlanFiles } from '@wins/system-agent';
import { groupRunner } from '@wins/system-agent/testing';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLoggerTo } from '../../kernel/log/logger.js';
import { auditOptions } from '../../testing/private-folder.js';
import { actionDecision } from './agent-log.js';

const FILES = 500;

describe('the audit log of a plan with many files', () => {
  let folder: string;
  const below = (name: string) => path.join(folder, name);

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'plan-records-'));
  });
  afterEach(() => {
    jest.restoreAllMocks();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has a record of each, and is flushed once for a hundred of them', async () => {
    const log = createLoggerTo({ debug: false, quiet: true }, { write: () => undefined });
    const audit = new AuditTrail(auditOptions(below('audit')), log);
    await audit.open(() => undefined);
    const clock = new FakeClock();
    const applier = createApplier({
      workDirectory: below('work'),
      preserveWorkDirectory: false,
      appliedPlanDirectory: below('applied'),
      stateDirectory: below('state'),
      clock,
      files: posixPlanFiles(),
      programs: groupRunner(),
      images: { unpack: () => Promise.reject(new Error('there are no images')) },
      onAction: async (action) => audit.decided(actionDecision(action)),
      onEvent: () => undefined,
    });
    const files = Array.from({ length: FILES }, (_, index) => ({
      path: below(`files/${index}`),
      content: 'eA==',
      uid: -1,
      gid: -1,
    }));
    const handle = await open(__filename);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    // Counts the real flushes of the audit log, the only user of `datasync`.
    const flushes = jest.spyOn(prototype, 'datasync');
    await applier.apply(
      {
        ...parsePlan(Buffer.from(JSON.stringify({ files }))),
        source: 'remote',
        oneTime: { attempt: 0 },
        startedAt: clock.now(),
        outputs: {},
        periodic: {},
        probes: {},
      },
      { signal: new AbortController().signal },
    );
    expect(flushes).toHaveBeenCalledTimes(FILES / 100);
    expect(readdirSync(below('files'))).toHaveLength(FILES);
    await audit.close();
    const recorded = new Set<unknown>();
    for await (const records of readAuditLog(below('audit'))) {
      for (const { kind, path: file } of records) if (kind === 'planWrite') recorded.add(file);
    }
    expect(recorded).toEqual(new Set(files.map((file) => file.path)));
  });
});
