import { chmodSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { runWins, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { until } from '../testing/process-table.js';
import { Workspace } from '../testing/workspace.js';
import { reportOf, unwell } from './doctor-report.js';

describe('wins doctor', () => {
  let workspace: Workspace;
  let program: string;
  let sleeper: string;
  let config: string;
  let daemon: Daemon;
  beforeAll(async () => {
    workspace = new Workspace();
    program = workspace.script('tool', 'exit 0');
    sleeper = workspace.script('sleeper', 'echo up; exec sleep 1000');
    config = workspace.config([program, sleeper]);
    daemon = await Daemon.start(workspace, config, '--debug');
    // The daemon writes these files a moment after its start.
    const kept = [/\/events\.\d+\.jsonl$/, /\.history\/served\.000001\.yaml$/];
    await until(() => kept.every((name) => files().some((file) => name.test(file))));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const files = () => readdirSync(workspace.folder, { recursive: true }).map(String).sort();
  const doctor = (...args: string[]) =>
    runWins(['doctor', '--config', config, ...args], workspace.environment);
  const report = () => reportOf(workspace, config);

  it('says that all is well, for people and for programs', async () => {
    const { code, stdout, stderr } = await doctor();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.toString()).toMatch(/^ok {7}versions +wins v[^]*\nall is well\n$/);
    expect(stdout.toString()).toContain(`${program} may run`);
    const told = await report();
    expect(told).toMatchObject({ code: 0, healthy: true });
    expect(unwell(told)).toEqual([]);
    expect(told.findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining([
        'versions',
        'config',
        'pipe',
        'daemon',
        'whitelist',
        'orphans',
        'audit',
      ]),
    );
  });

  it('finds no fault in a config behind a trusted link, or spelled in another way', async () => {
    const { folder } = workspace;
    symlinkSync(config, workspace.path('linked'));
    const name = path.basename(config);
    for (const spelled of [
      `${folder}/linked`,
      `${folder}//./${name}`,
      `${folder}/../${path.basename(folder)}/${name}`,
    ]) {
      const args = ['doctor', '--config', spelled];
      const { stdout } = await runWins(args, workspace.environment);
      expect(stdout.toString()).not.toMatch(/^(?:warning|problem) +(?:config|whitelist) /m);
    }
  });

  it('finds a config that others may write, which no daemon takes', async () => {
    const open = workspace.write('open', readFileSync(config), 0o666);
    const told = await reportOf(workspace, open);
    expect(told.code).toBe(2);
    expect(unwell(told)).toContainEqual(
      expect.objectContaining({ check: 'config', level: 'problem' }),
    );
  });

  it('finds a socket that was opened to others', async () => {
    const socket = path.join(workspace.runtimeDirectory, 'rancher_wins_proxy');
    chmodSync(socket, 0o666);
    const told = await report();
    chmodSync(socket, 0o600);
    expect(unwell(told)).toMatchObject([
      { check: 'pipe', level: 'problem', found: expect.stringContaining('mode 666') as string },
    ]);
  });

  it('does not take the processes of a living daemon for orphans', async () => {
    const words = ['cli', 'prc', 'run', '--path', sleeper];
    const client = startWins(words, workspace.environment);
    await client.printed('up');
    expect(unwell(await report())).toEqual([]);
    client.child.kill('SIGTERM');
    await client.outcome;
    await daemon.logged(({ msg }) => msg === 'a run has ended');
  });

  it('leaves no file and no record in the log of the daemon', async () => {
    const before = files();
    const lines = daemon.log.length;
    await doctor();
    expect(files()).toEqual(before);
    // The log may report a stall on a busy machine.
    const stall = 'the event loop was blocked';
    const told = daemon.log
      .slice(lines)
      .filter(({ level, msg }) => level !== 'debug' && msg !== stall);
    expect(told).toEqual([]);
  });

  it('is helped with and completed like the others', async () => {
    const help = await runWins(['doctor', '--help'], workspace.environment);
    expect(help.code).toBe(0);
    expect(help.stdout.toString()).toContain('--json');
    const words = ['--get-yargs-completions', 'wins', 'doctor', '--'];
    const completed = await runWins(words, workspace.environment);
    expect(completed.stdout.toString()).toContain('--config');
    const wrong = await doctor('--nonsense');
    expect(wrong.code).toBe(64);
    expect(wrong.stderr).toMatch(/^wins: [^\n]+\n$/);
  });
});
