import { readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

const MEANT = [
  ['top', 'cli prc top'],
  ['run', 'cli prc run'],
  ['ps', 'cli prc ls'],
  ['prc', 'cli prc'],
  ['kill', 'cli prc stop'],
  ['events', 'srv events'],
  ['audit', 'srv audit'],
  ['config', 'srv config'],
  ['proxy', 'cli proxy'],
  ['validate', 'srv config check'],
  ['cli prc status', 'status'],
  ['cli prc kill', 'cli prc stop'],
] as const;

describe('the words of an operator on call', () => {
  let workspace: Workspace;
  let tool: string;
  let config: string;
  beforeEach(() => {
    workspace = new Workspace();
    tool = workspace.script('tool', 'exit 0');
    config = workspace.config([tool], { audit: { directory: workspace.path('audit') } });
  });
  afterEach(() => workspace[Symbol.dispose]());
  const wins = async (...words: string[]) => {
    const { code, stdout, stderr } = await runWins(words, workspace.environment);
    return { code, stdout: String(stdout), stderr };
  };

  it.each(MEANT)('are answered with the intended command: %s is %s', async (words, command) => {
    const { code, stderr } = await wins(...words.split(' '));
    expect(code).toBe(64);
    expect(stderr).toContain(`; did you mean "wins ${command}"? Run`);
  });

  it('get one verdict in one form and with one exit code, from the daemon and from the file', async () => {
    await using _daemon = await Daemon.start(workspace, config);
    const asked = ['--port', '8000', '-o', 'json'];
    const fromDaemon = await wins('cli', 'explain', ...asked);
    const fromFile = await wins('srv', 'config', 'explain', '--config', config, ...asked);
    expect([fromDaemon.code, fromFile.code]).toEqual([126, 126]);
    const verdict = JSON.parse(fromDaemon.stdout) as object;
    expect(verdict).toMatchObject({
      subject: 'port 8000',
      allowed: false,
      code: 'port-not-listed',
    });
    expect(JSON.parse(fromFile.stdout)).toMatchObject(verdict);
  });

  it.each([
    [
      ['join', '--server', 'foo'],
      'cannot read CATTLE_SERVER: found a text that is not an address; wanted one that begins with https://',
    ],
    [['leave'], 'cannot change a node on linux: this command works on Windows only'],
  ])('get why %j does nothing in words of the command', async (words, why) => {
    const { code, stderr } = await wins(...words);
    expect(code).not.toBe(0);
    expect(stderr).toBe(`wins: refused: ${why}\n`);
  });

  it('get what is missing, not the help, where the words were right, and commands that work as printed', async () => {
    const shown = await wins('srv', 'audit', 'show', '--config', config);
    expect(shown).toEqual({
      code: 69,
      stdout: '',
      stderr: `wins: cannot read the audit log in "${workspace.path('audit', 'rancher_wins')}": there is no such file or folder; a daemon with this config creates it; name another folder with --directory\n`,
    });
    const asked = await wins('srv', 'plan', 'status', '--config', config);
    expect(asked.stderr).toContain(`"wins doctor --config ${config}"`);
    const { stdout } = await wins('status', '--config', config, '-o', 'json');
    const { findings } = JSON.parse(stdout) as { findings: { advice?: string }[] };
    const advised = findings.flatMap(({ advice }) => advice?.match(/wins srv [^,;]*/g) ?? []);
    expect(advised).toEqual([`wins srv app run --config ${config}`]);
    await using _daemon = await Daemon.start(workspace, config);
    const server = workspace.path('run', 'rancher_wins');
    const unknown = await wins('cli', 'prc', 'logs', 'none', '--server', server);
    expect(unknown.stderr).toContain(`"wins cli prc ls --detached --server ${server}"`);
  });

  it('report a missing plan in plain words', async () => {
    const { code, stderr } = await wins('srv', 'plan', 'apply', '--file', './nope');
    expect(code).toBe(64);
    expect(stderr).toMatch(/--file: cannot read .*no such file/);
    expect(stderr).not.toContain('ENOENT');
  });

  it('learn what a verification cannot see, and see it with a digest that was noted', async () => {
    {
      await using _daemon = await Daemon.start(workspace, config);
      await wins('cli', 'prc', 'run', '--path', tool);
    }
    const verify = (...more: string[]) =>
      wins('srv', 'audit', 'verify', '--config', config, ...more);
    const whole = await verify('-o', 'json');
    const { lastHash } = JSON.parse(whole.stdout) as { lastHash: string };
    expect((await verify()).stdout).toContain(
      'only --expect shows whether newer records were removed',
    );
    expect(await verify('--expect', lastHash)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('with the expected line') as string,
    });
    const folder = workspace.path('audit', 'rancher_wins');
    for (const name of readdirSync(folder)) truncateSync(`${folder}/${name}`);
    expect(await verify()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing to verify') as string,
    });
    expect(await verify('--expect', lastHash)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('the log was cut or replaced') as string,
    });
  });

  it('find events whose facts are quoted where they have blanks, without numbers of the threat model', async () => {
    await using _daemon = await Daemon.start(workspace, config);
    await wins('cli', 'prc', 'run', '--path', workspace.script('other', ''));
    const { stdout } = await wins('srv', 'events', '--config', config);
    expect(stdout).toMatch(/ client="pid=\d+ uid=\d+" /);
    expect(stdout).toContain('rule="not listed"');
  });

  it('are warned of a blank that is no space in a path, which is shown', async () => {
    writeFileSync(config, JSON.stringify({ white_list: { processPaths: ['/opt/a\u00a0b'] } }));
    const { code, stderr, stdout } = await wins('srv', 'config', 'check', '--config', config);
    expect(code).toBe(0);
    expect(stderr + stdout).toContain('"/opt/a\\u00a0b": it has an unusual blank');
  });

  it('get a warning about an extension that Windows does not start', async () => {
    writeFileSync(config, JSON.stringify({ white_list: { processPaths: ['c:/tools/run.ps1'] } }));
    const words = ['srv', 'config', 'check', '--config', config, '--platform', 'windows'];
    const { code, stderr } = await wins(...words);
    expect(code).toBe(78);
    expect(stderr).toContain('a script or a document, which Windows cannot start');
  });

  it.each([
    [
      'is neither a program nor a script',
      'ELFgarbage\n',
      0o755,
      'it is neither an ELF program nor a',
    ],
    ['is empty', '', 0o755, 'it is empty'],
    ['has no interpreter', '#!/no/such\n', 0o755, 'its interpreter "/no/such" does not exist'],
    ['may not be executed', '#!/bin/sh\n', 0o644, 'it is not executable (mode 644)'],
  ])('are told that a listed file %s, by the daemon and by the doctor', async (...given) => {
    const [, text, mode, told] = given;
    const odd = workspace.write('odd', text, mode);
    workspace.config([odd], { audit: { directory: workspace.path('audit') } });
    await using _daemon = await Daemon.start(workspace, config);
    const { code, stderr } = await wins('cli', 'prc', 'run', '--path', odd);
    expect([code, stderr]).toEqual([126, expect.stringContaining(told)]);
    expect((await wins('doctor', '--config', config)).stdout).toContain(told);
  });
});
