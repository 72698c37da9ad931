import { createProcessManager } from '@wins/process-manager';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLoggerTo } from './logger.js';
import { posixProcessHost } from '../../posix.js';
import { logProcessEvent } from './process-events.js';

describe('what happens to processes', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-events-'));
  const lines: Record<string, unknown>[] = [];
  const logger = createLoggerTo(
    { debug: false, quiet: false },
    { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const stateDirectory = path.join(folder, 'state');
  const program = path.join(folder, 'tool');
  const manager = createProcessManager({
    allowed: [{ path: program }],
    stateDirectory,
    host: posixProcessHost(),
    portOpener: {
      open: () => Promise.resolve(),
      close: () => Promise.reject(new Error('the firewall is busy')),
    },
    onEvent: (event) => logProcessEvent(logger, event),
  });
  const run = (source: string) => {
    writeFileSync(program, source, { mode: 0o755 });
    return manager.start({
      path: program,
      args: ['s3cret'],
      envs: [],
      exposes: [{ protocol: 'tcp', port: 80 }],
      sha256: createHash('sha256').update(source).digest('hex'),
      owner: { id: 'pipe:1', disconnected: new AbortController().signal },
    });
  };
  const linesOf = (type: string) => lines.filter((line) => line['type'] === type);

  afterAll(async () => {
    await manager.close();
    rmSync(folder, { recursive: true });
  });

  it('is logged with the message of an error, as a warning where it is no matter of a client', async () => {
    const record = path.join(stateDirectory, 'runs', 'a'.repeat(32), 'run.json');
    mkdirSync(path.dirname(record));
    writeFileSync(record, '{');
    await manager.recover();
    const quick = await run('#!/bin/sh\n');
    await quick.ended;
    await expect(run('#!/\n')).rejects.toThrow();
    await manager.close();

    expect(linesOf('recordIgnored')).toMatchObject([{ level: 'warn' }]);
    expect(linesOf('started')).toMatchObject([{ level: 'info', msg: 'a run has started' }]);
    expect(linesOf('startFailed')).toMatchObject([
      {
        level: 'info',
        err: { code: 'spawnFailed', message: expect.stringContaining('tool') as unknown },
      },
    ]);
    expect(linesOf('portsNotClosed')[0]).toMatchObject({
      level: 'warn',
      mark: quick.mark,
      err: { message: 'the firewall is busy' },
    });
    expect(JSON.stringify(lines)).not.toContain('s3cret');
  });
});
