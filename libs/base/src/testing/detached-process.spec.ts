import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DetachedProcess, killProcess, processOf } from './detached-process.js';

const LONG_MS = 30_000;

describe('a detached process', () => {
  let folder: string;
  let record: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'detached-'));
    record = path.join(folder, 'it.pid');
  });
  afterEach(async () => {
    await new DetachedProcess(record).stop(0);
    rmSync(folder, { recursive: true });
  });
  const shell = (script: string, log?: string) => ({
    file: '/bin/sh',
    args: ['-c', script],
    environment: { PATH: process.env['PATH'], WORD: 'hello' },
    ...(log !== undefined && { log }),
  });
  const sleeps = shell('exec sleep 1000');
  /** A program that ignores SIGTERM after it has written `ready` to its log. */
  const stubborn = (log: string) =>
    shell('trap "" TERM; echo ready; while :; do sleep 1; done', log);
  const written = async (file: string, text: string): Promise<void> => {
    while (!existsSync(file) || !readFileSync(file, 'utf8').includes(text)) await turn();
  };
  const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

  it('is found by another life of its starter, and stopped by it', async () => {
    await new DetachedProcess(record).start(sleeps, 0);
    const found = new DetachedProcess(record);
    const { pid = 0 } = found;
    expect(processOf(pid)).toBeDefined();
    await found.stop(LONG_MS);
    expect([found.pid, processOf(pid), existsSync(record)]).toEqual([undefined, undefined, false]);
  });

  it('has the environment that was given, and writes to its log', async () => {
    const log = path.join(folder, 'log');
    await new DetachedProcess(record).start(shell('echo "$WORD $HOME."', log), 0);
    await written(log, 'hello .\n');
  });

  it('is one that stops until it is gone, and killed when it takes too long', async () => {
    const log = path.join(folder, 'log');
    const it = new DetachedProcess(record);
    await it.start(stubborn(log), 0);
    await written(log, 'ready');
    const { pid = 0 } = it;
    const stopped = it.stop(200);
    expect([it.pid, new DetachedProcess(record).isStopping]).toEqual([pid, true]);
    await stopped;
    expect([processOf(pid), it.isStopping]).toEqual([undefined, false]);
  });

  it('is started again only after the earlier one is gone', async () => {
    const log = path.join(folder, 'log');
    const it = new DetachedProcess(record);
    await it.start(stubborn(log), 0);
    const { pid = 0 } = it;
    await it.start(sleeps, 0);
    expect([processOf(pid), it.pid === pid]).toEqual([undefined, false]);
  });

  it('is not taken for another process that got its PID', async () => {
    writeFileSync(record, `${process.pid} 1`);
    const it = new DetachedProcess(record);
    expect(it.pid).toBeUndefined();
    await it.stop(0);
    expect(processOf(process.pid)).toBeDefined();
  });

  it.each(['', 'nonsense', '0 ', '-1 5', `${process.pid}`, `${process.pid} `])(
    'does not run for a record that says %j',
    (text) => {
      writeFileSync(record, text);
      expect(new DetachedProcess(record).pid).toBeUndefined();
    },
  );

  it('does not start what cannot be executed', async () => {
    const it = new DetachedProcess(record);
    const file = path.join(folder, 'none');
    await expect(it.start({ ...sleeps, file }, 0)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(it.pid).toBeUndefined();
  });

  it('is not found once it has ended, before anyone asked how', async () => {
    const child = spawn('/bin/sh', ['-c', 'echo ready; read -r word'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    const found = processOf(child.pid ?? 0);
    const exit = once(child, 'exit');
    await killProcess(found ?? { pid: 0, started: '' });
    expect(processOf(child.pid ?? 0)).toBeUndefined();
    await exit;
  });
});
