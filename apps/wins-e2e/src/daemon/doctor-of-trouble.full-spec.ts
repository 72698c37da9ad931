import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';
import { reportOf, unwell } from './doctor-report.js';

describe('wins doctor, of a host of its own', () => {
  let workspace: Workspace;
  let program: string;
  let config: string;
  beforeEach(() => {
    workspace = new Workspace();
    program = workspace.script('tool', 'exit 0');
    config = workspace.config([program]);
  });
  afterEach(() => workspace[Symbol.dispose]());
  const report = () => reportOf(workspace, config);

  it('names the folder in which others could replace the config, and what it found there', async () => {
    chmodSync(workspace.folder, 0o777);
    const told = await report();
    expect(told.code).toBe(2);
    expect(unwell(told)).toContainEqual(
      expect.objectContaining({
        check: 'config',
        level: 'problem',
        found: expect.stringMatching(/others can write to it \(mode 0777\)/) as string,
      }),
    );
    chmodSync(workspace.folder, 0o700);
  });

  it('reports the problems while the daemon is down, and creates nothing', async () => {
    const before = readdirSync(workspace.folder);
    const told = await report();
    expect(told).toMatchObject({ code: 2, healthy: false });
    expect(unwell(told)).toMatchObject([
      {
        check: 'daemon',
        level: 'problem',
        advice: expect.stringContaining('srv app run') as string,
      },
    ]);
    expect(readdirSync(workspace.folder)).toEqual(before);
    expect(existsSync(workspace.runtimeDirectory)).toBe(false);
  });

  it('finds a missing program and one that others may write, and exits with 2', async () => {
    const open = workspace.script('open', 'exit 0');
    chmodSync(open, 0o757);
    const missing = workspace.path('missing');
    workspace.config([program, open, missing, 'relative']);
    await using _daemon = await Daemon.start(workspace, config);
    const told = await report();
    expect(told.code).toBe(2);
    expect(unwell(told).map(({ level, found }) => [level, found])).toEqual([
      ['problem', expect.stringContaining(open)],
      ['warning', `${missing} does not exist`],
      ['problem', expect.stringContaining('relative')],
    ]);
  });

  it('exits with 1 when there are only warnings', async () => {
    workspace.config([]);
    await using _daemon = await Daemon.start(workspace, config);
    const told = await report();
    expect(unwell(told)).toMatchObject([{ check: 'whitelist', level: 'warning' }]);
    expect(told.code).toBe(1);
  });

  it('finds an audit log that others may read, and one that was changed', async () => {
    await using daemon = await Daemon.start(workspace, config);
    const folder = path.join(workspace.runtimeDirectory, 'rancher_wins.audit');
    chmodSync(folder, 0o755);
    expect(unwell(await report())).toMatchObject([
      { check: 'audit', level: 'problem', found: expect.stringContaining('mode 755') as string },
    ]);
    chmodSync(folder, 0o700);
    await daemon.stop();
    const file = path.join(folder, 'audit.00000001.jsonl');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('"kind":"started"', '"kind":"stopped"'));
    const changed = unwell(await report()).filter(({ check }) => check === 'audit');
    expect(changed).toMatchObject([
      { level: 'problem', found: expect.stringContaining('damaged or edited') as string },
    ]);
  });

  it('finds a program that a dead daemon left, and leaves it alone', async () => {
    const sleeper = workspace.script('sleeper', 'exec sleep 1000');
    workspace.config([sleeper]);
    const staged = workspace.path('rancher-wins-sleeper');
    copyFileSync('/bin/sleep', staged);
    const orphan: ChildProcess = spawn(staged, ['1000'], { stdio: 'ignore' });
    await once(orphan, 'spawn');
    const told = await report();
    expect(unwell(told)).toContainEqual(
      expect.objectContaining({
        check: 'orphans',
        level: 'problem',
        found: expect.stringContaining(`process ${orphan.pid} `) as string,
      }),
    );
    expect(orphan.exitCode ?? orphan.signalCode).toBeNull();
    orphan.kill('SIGKILL');
    await once(orphan, 'exit');
  });
});
