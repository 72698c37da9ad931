import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

interface Report {
  readonly healthy: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly level: string;
    readonly found: string;
    readonly advice?: string;
  }[];
}

describe('wins doctor', () => {
  let workspace: Workspace;
  let program: string;
  let config: string;
  beforeEach(() => {
    workspace = new Workspace();
    program = workspace.script('tool', 'exit 0');
    config = workspace.config([program]);
  });
  afterEach(() => workspace[Symbol.dispose]());

  const doctor = (...args: string[]) =>
    runWins(['doctor', '--config', config, ...args], workspace.environment);
  async function report(): Promise<Report & { readonly code: number | null }> {
    const { code, stdout } = await doctor('--json');
    return { code, ...(JSON.parse(stdout.toString()) as Report) };
  }
  const unwell = ({ findings }: Report) => findings.filter(({ level }) => level !== 'ok');

  it('says that all is well, for people and for programs', async () => {
    await using _daemon = await Daemon.start(workspace, config);
    const { code, stdout, stderr } = await doctor();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.toString()).toMatch(/\n\nok {7}versions {5}wins v[^]*\nall is well\n$/);
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
    await using _daemon = await Daemon.start(workspace, config);
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
      { check: 'pipe', level: 'problem', advice: expect.stringContaining('srv app run') as string },
      { check: 'pipe', level: 'problem' },
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

  it('finds a config that others may write, which no daemon takes', async () => {
    await using _daemon = await Daemon.start(workspace, config);
    chmodSync(config, 0o666);
    const told = await report();
    expect(told.code).toBe(2);
    expect(unwell(told)).toContainEqual(
      expect.objectContaining({ check: 'config', level: 'problem' }),
    );
  });

  it('finds a socket that was opened to others', async () => {
    await using _daemon = await Daemon.start(workspace, config);
    chmodSync(path.join(workspace.runtimeDirectory, 'rancher_wins_proxy'), 0o666);
    const told = await report();
    expect(unwell(told)).toMatchObject([
      { check: 'pipe', level: 'problem', found: expect.stringContaining('mode 666') as string },
    ]);
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

  it('does not take the processes of a living daemon for orphans', async () => {
    const sleeper = workspace.script('sleeper', 'echo up; exec sleep 1000');
    workspace.config([sleeper]);
    await using daemon = await Daemon.start(workspace, config);
    const client = runWins(['cli', 'prc', 'run', '--path', sleeper], workspace.environment);
    await daemon.logged((record) => record['type'] === 'started');
    expect(unwell(await report())).toEqual([]);
    await daemon.stop();
    await client;
  });

  it('leaves no file and no record in the log of the daemon', async () => {
    const files = () => readdirSync(workspace.folder, { recursive: true }).map(String).sort();
    await using daemon = await Daemon.start(workspace, config, '--debug');
    // The daemon writes these files a moment after its start.
    const kept = [/\/events\.\d+\.jsonl$/, /\/served-config\.json$/, /\.last-good\/config$/];
    while (!kept.every((name) => files().some((file) => name.test(file))))
      await new Promise((resolve) => setTimeout(resolve, 5));
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
