import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { runWins, startWins, type Outcome } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { processesWith, until } from '../testing/process-table.js';
import { Workspace, WINS } from '../testing/workspace.js';

describe('wins cli prc run', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  const echo = workspace.program(
    'echo.exe',
    `process.stdout.write(JSON.stringify({ argv: process.argv.slice(2), cwd: process.cwd(), env: process.env }));`,
  );
  const exits = workspace.script('exits', 'exit $1');
  const dies = workspace.script('dies', 'kill -$1 $$');
  const both = workspace.script('both', 'echo out; echo err >&2');
  const sleeper = workspace.program(
    'sleeper',
    `process.on('SIGTERM', () => { console.log('told to end'); process.exit(3); });
console.log('asleep'); setInterval(() => {}, 1e6);`,
  );
  const binary = workspace.program(
    'binary',
    `const { createHash } = require('node:crypto'); const { readFileSync } = require('node:fs');
process.stdout.write(readFileSync(process.argv[2]));`,
  );
  const yes = workspace.script('yes', 'exec yes');
  const zeros = workspace.script('zeros', 'exec head -c 50000000 /dev/zero');

  const wins = (...args: string[]): Promise<Outcome> => runWins(args, workspace.environment);
  const run = (program: string, ...args: string[]): Promise<Outcome> =>
    wins('cli', 'prc', 'run', '--path', program, ...args);

  beforeAll(async () => {
    const allowed = [
      { path: echo, envs: ['FOO', 'BA*'], directories: [workspace.path('work')] },
      exits,
      dies,
      both,
      sleeper,
      binary,
      yes,
      zeros,
      { path: workspace.path('with-env'), envs: ['NODE_OPTIONS'] },
      { path: workspace.path('with-args'), args: [['up', { port: true }]] },
    ];
    mkdirSync(workspace.path('work'));
    workspace.script('with-args', 'echo "$@"');
    workspace.program('with-env', `console.log(process.env.NODE_OPTIONS)`);
    daemon = await Daemon.start(workspace, workspace.config(allowed));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it('takes what fingers know: a program without an option, -e for each variable, and -w', async () => {
    const [work, variables] = [workspace.path('work'), ['-e', 'FOO=a b', '--env', 'BAR=']];
    const { code, stdout } = await wins('cli', 'prc', 'run', echo, ...variables, '-w', work);
    expect(code).toBe(0);
    expect(JSON.parse(stdout.toString())).toMatchObject({
      cwd: work,
      env: { FOO: 'a b', BAR: '' },
    });
    const none = await wins('cli', 'prc', 'run');
    expect([none.code, none.stderr]).toEqual([125, expect.stringContaining('--path is missing')]);
    const two = await wins('cli', 'prc', 'run', '--path', echo, both);
    expect([two.code, two.stderr]).toEqual([125, expect.stringContaining('cannot be combined')]);
  });

  it('shows standard output and standard error as they are', async () => {
    const { code, stdout, stderr } = await run(both);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 0,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  it.each([0, 1, 7, 124, 255])('ends with the exit code %i of the program', async (code) => {
    expect((await run(exits, '--args', String(code))).code).toBe(code);
  });

  it.each([
    ['KILL', 137],
    ['TERM', 143],
    ['SEGV', 139],
  ])('ends with 128 + n when SIG%s ended the program', async (signal, code) => {
    expect((await run(dies, '--args', signal)).code).toBe(code);
  });

  it('passes arguments, environment and the working directory', async () => {
    const { stdout } = await run(
      echo,
      '--args',
      'a "b c"',
      '--envs',
      'FOO=bar BAZ=',
      '--dir',
      workspace.path('work'),
    );
    const seen = JSON.parse(stdout.toString()) as { argv: string[]; cwd: string; env: object };
    expect(seen.argv).toEqual(['a', '"b c"']);
    expect(seen.cwd).toBe(workspace.path('work'));
    expect(seen.env).toMatchObject({ FOO: 'bar', BAZ: '' });
  });

  it('passes the words after -- exactly', async () => {
    const words = ['a b', '"', "'", '', '--path', '$HOME', '-x', '\\'];
    const { stdout } = await run(echo, '--', ...words);
    expect((JSON.parse(stdout.toString()) as { argv: string[] }).argv).toEqual(words);
  });

  it('keeps the variables of the daemon itself from the program', async () => {
    const { stdout } = await run(echo);
    const { env } = JSON.parse(stdout.toString()) as { env: Record<string, string> };
    expect(Object.keys(env).filter((name) => name.startsWith('WINS_'))).toEqual([]);
  });

  it('reads options as the Go client wrote them', async () => {
    const { stdout, code } = await wins('client', 'process', 'run', '-path', echo, '-args=x -y');
    expect(code).toBe(0);
    expect((JSON.parse(stdout.toString()) as { argv: string[] }).argv).toEqual(['x', '-y']);
  });

  it('is byte-exact for binary output, invalid UTF-8, NUL and a line of 10 MB', async () => {
    const bytes = Buffer.concat([
      randomBytes(1_000_000),
      Buffer.alloc(10_000_000, 'x'),
      Buffer.from([0xff, 0, 0xfe]),
    ]);
    const file = workspace.write('data', bytes);
    const { code, stdout, stderr } = await run(binary, '--', file);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.equals(bytes)).toBe(true);
  });

  it('waits for a slow reader, loses nothing and complains of nothing', async () => {
    const client = spawn(process.execPath, [WINS, 'cli', 'prc', 'run', '--path', zeros], {
      env: workspace.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(client, 'close');
    let stderr = '';
    client.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    let bytes = 0;
    for await (const chunk of client.stdout as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await ended;
    expect({ bytes, stderr, code: client.exitCode }).toEqual({
      bytes: 50_000_000,
      stderr: '',
      code: 0,
    });
  });

  it('leaves the program where it is and runs a copy beside it', async () => {
    const before = readFileSync(both);
    await run(both);
    expect(readFileSync(both)).toEqual(before);
    expect(readFileSync(workspace.path('rancher-wins-both'))).toEqual(before);
    const { stdout } = await run(echo);
    expect(stdout.length).toBeGreaterThan(0);
    expect(existsSync(workspace.path('rancher-wins-echo.exe'))).toBe(true);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'stops the program on %s and reports how it ended',
    async (signal) => {
      const client = startWins(['cli', 'prc', 'run', '--path', sleeper], workspace.environment);
      await client.printed('asleep');
      client.child.kill(signal);
      const { code, stdout, stderr } = await client.outcome;
      expect(code).toBe(3);
      expect(stdout.toString()).toContain('told to end');
      expect(stderr).toContain('rancher-wins-sleeper was stopped: leaseEnded');
    },
  );

  it('ends quietly when its reader goes away', async () => {
    const client = startWins(['cli', 'prc', 'run', '--path', yes], workspace.environment);
    await client.printed('y\n');
    client.child.stdout?.destroy();
    const { stderr } = await client.outcome;
    expect(stderr).toBe('');
    await until(() => processesWith(workspace.path('rancher-wins-yes')).length === 0);
  });

  it('lists what runs, refuses to run it twice, and stops it by name', async () => {
    const client = startWins(['cli', 'prc', 'run', '--path', sleeper], workspace.environment);
    await client.printed('asleep');

    const listed = JSON.parse((await wins('cli', 'prc', 'ls')).stdout.toString()) as object[];
    expect(listed).toEqual([
      expect.objectContaining({ name: 'rancher-wins-sleeper', path: sleeper, state: 'running' }),
    ]);
    expect((await wins('cli', 'prc', 'ls', '-o', 'table')).stdout.toString()).toMatch(
      /^NAME .*\nrancher-wins-sleeper /,
    );

    const second = await run(sleeper);
    expect(second.code).toBe(125);
    expect(second.stderr).toMatch(/already running/);

    const stopped = await wins('cli', 'prc', 'stop', 'rancher-wins-sleeper');
    expect(stopped.code).toBe(0);
    expect(JSON.parse(stopped.stdout.toString())).toEqual({
      name: 'rancher-wins-sleeper',
      exitCode: 3,
      reason: 'stopped',
    });
    expect((await client.outcome).code).toBe(3);
    expect((await wins('cli', 'prc', 'stop', 'rancher-wins-sleeper')).code).toBe(127);
  });

  it('allows many clients at once, each with its own program', async () => {
    const results = await Promise.all([run(echo), run(both), run(exits, '--', '9')]);
    expect(results.map(({ code }) => code)).toEqual([0, 0, 9]);
  });

  it('passes the arguments that the entry allows, and refuses others by the name of their key', async () => {
    const program = workspace.path('with-args');
    expect((await run(program, '--', 'up', '80')).stdout.toString()).toBe('up 80\n');
    const refused = await run(program, '--', 'up', '80', '--config', 'x');
    expect([refused.code, refused.stderr]).toEqual([
      126,
      expect.stringContaining('its entry does not allow them'),
    ]);
  });

  it('passes a variable of the loader only if the whitelist names it', async () => {
    const refused = await run(echo, '--envs', 'NODE_OPTIONS=--no-warnings');
    expect(refused.code).toBe(126);
    expect(refused.stderr).toContain('NODE_OPTIONS');
    const passed = await run(workspace.path('with-env'), '--envs', 'NODE_OPTIONS=--no-warnings');
    expect(passed.stdout.toString()).toBe('--no-warnings\n');
  });

  it('writes one audit record per decision: client, request, verdict and rule', async () => {
    const skip = daemon.log.length;
    await run('/bin/sh');
    const refused = await daemon.logged((record) => record['verdict'] === 'refused', skip);
    expect(refused).toMatchObject({ action: 'start', path: '/bin/sh' });
    expect(refused['rule']).toEqual(expect.any(String));
    expect(refused['requester']).toEqual(expect.stringMatching(/^pipe:\d+/));
    await run(both);
    const allowed = await daemon.logged(
      (record) => record['verdict'] === 'allowed' && record['action'] === 'start',
      skip,
    );
    expect(allowed).toMatchObject({
      path: both,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      mark: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    });
  });

  it('makes the working directory that of the program when none is given', async () => {
    mkdirSync(workspace.path('elsewhere'), { recursive: true });
    const { stdout } = await run(echo);
    expect((JSON.parse(stdout.toString()) as { cwd: string }).cwd).toBe(workspace.folder);
  });
});
