import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { runWins, startWins, type Outcome, type RunningProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { mayMakeContainer, startInContainer } from '../testing/other-container.js';
import { processesWith, until } from '../testing/process-table.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

/** Prints a line every 10 ms until the file named by its first argument exists. */
const COUNTER = `const { existsSync } = require('node:fs');
let line = 0;
const timer = setInterval(() => {
  console.log('line ' + line++);
  if (line % 100 === 0) console.error('error ' + line);
  if (!existsSync(process.argv[2])) return;
  clearInterval(timer);
  process.exitCode = 7;
}, 10);`;

describe('a detached run', () => {
  let workspace: Workspace;
  let daemon: Daemon;
  let config: string;
  let counter: string;
  let stop: string;

  beforeEach(async () => {
    workspace = new Workspace();
    counter = workspace.program('counter', COUNTER);
    stop = workspace.path('stop');
    config = workspace.config([{ path: counter, lasting: { allow: true, restart: true } }]);
    daemon = await Daemon.start(workspace, config);
  });
  afterEach(async () => {
    await endAll();
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const ofRun = (): number[] => processesWith(workspace.path('rancher-wins-counter'));
  const keepers = (): number[] => processesWith('srv\0keep', workspace.folder);
  async function endAll(): Promise<void> {
    for (const pid of [...keepers(), ...ofRun()]) process.kill(pid, 'SIGKILL');
    await until(() => keepers().length + ofRun().length === 0);
  }
  const prc = (...args: string[]): Promise<Outcome> =>
    runWins(['cli', 'prc', ...args], workspace.environment);
  async function recorded(
    where: 'events' | 'audit',
    isWanted: (record: Record<string, unknown>) => boolean,
  ): Promise<Record<string, unknown>[]> {
    const words = where === 'events' ? ['events'] : ['audit', 'show'];
    const { stdout } = await runWins(
      ['srv', ...words, '--config', config, '-o', 'json'],
      workspace.environment,
    );
    const lines = stdout.toString().trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(isWanted);
  }
  const follow = (...args: string[]): RunningProgram =>
    startWins(['cli', 'prc', ...args], workspace.environment);
  async function detach(...more: string[]): Promise<string> {
    const { code, stdout, stderr } = await prc(
      ...['run', '--detach', ...more, '--path', counter, '--', stop],
    );
    expect([code, stderr]).toEqual([0, '']);
    return stdout.toString().trim();
  }
  async function killDaemon(): Promise<void> {
    daemon.child.kill('SIGKILL');
    await daemon.outcome;
  }
  const startDaemon = async (): Promise<void> => {
    daemon = await Daemon.start(workspace, config);
  };
  /** No line may be missing or repeated. Returns the number of lines. */
  function expectCounted(text: string): number {
    const lines = text.split('\n').slice(0, -1);
    expect(lines).toEqual(lines.map((_, index) => `line ${index}`));
    return lines.length;
  }

  it.each([
    ['killed', () => killDaemon()],
    ['stopped', () => daemon[Symbol.asyncDispose]()],
  ])('outlives a daemon that is %s, and a follower gets every line once', async (_how, end) => {
    const name = await detach();
    const follower = follow('logs', '-f', name);
    await follower.printed('line 20\n');
    await end();
    const [pid] = ofRun();
    await startDaemon();
    expect(ofRun()).toEqual([pid]);
    const seen = follower.stdout().split('\n').length;
    await follower.printed(`line ${seen + 50}\n`);
    workspace.write('stop', '');
    const { code, stdout } = await follower.outcome;
    expect(code).toBe(0);
    expect(expectCounted(stdout.toString())).toBeGreaterThan(seen + 50);
    const waited = await prc('wait', name);
    expect([waited.code, waited.stdout.toString()]).toEqual([7, '']);
  });

  it('is followed from one daemon to the next before it has written anything', async () => {
    const silent = workspace.program(
      'silent',
      `setInterval(() => {
        if (!require('node:fs').existsSync(process.argv[2])) return;
        console.log('line 0');
        process.exit(7);
      }, 20);`,
    );
    workspace.config([counter, { path: silent, lasting: { allow: true } }]);
    await runWins(['srv', 'config', 'reload', '--config', config], workspace.environment);
    await prc('run', '--detach', '--name', 'silent', '--path', silent, '--', stop);
    const follower = follow('logs', '-f', 'silent');
    await daemon.logged(({ action }) => action === 'wait');
    await daemon[Symbol.asyncDispose]();
    // During this 1 s, `follower` looks for the next daemon and finds none.
    await runWins(['cli', 'app', 'info', '--wait-timeout', '1s'], workspace.environment);
    await startDaemon();
    workspace.write('stop', '');
    const { code, stdout, stderr } = await follower.outcome;
    expect([code, stdout.toString(), stderr]).toEqual([0, 'line 0\n', '']);
  });

  it('that ends while there is no daemon is known to the next one, with its output and its exit code', async () => {
    const name = await detach('--name', 'web');
    expect(name).toBe('web');
    await follow('logs', '-f', 'web').printed('line 9\n');
    await killDaemon();
    workspace.write('stop', '');
    await until(() => keepers().length === 0);
    await startDaemon();
    expect((await prc('wait', 'web')).code).toBe(7);
    expectCounted((await prc('logs', 'web')).stdout.toString());
    const [listed] = JSON.parse(
      (await prc('ls', '--detached', '-o', 'json')).stdout.toString(),
    ) as [unknown];
    expect(listed).toMatchObject({
      ...{ name: 'web', process: 'rancher-wins-counter', state: 'ended' },
      exit: { code: 7, reason: 'exited' },
    });
    // The end is recorded only once, however many daemons start.
    await daemon[Symbol.asyncDispose]();
    await startDaemon();
    const facts = { path: counter, reason: 'exited', code: 7 };
    expect(await recorded('events', ({ type }) => type === 'runEnded')).toMatchObject([facts]);
    const records = await recorded('audit', ({ kind }) => kind === 'endedWithoutDaemon');
    expect(records).toMatchObject([facts]);
  });

  it('shows its resource use, like every run', async () => {
    const follower = follow('logs', '-f', await detach());
    await follower.said('error 100\n');
    follower.child.kill();
    const { stdout } = await prc('stats');
    const [figures] = JSON.parse(stdout.toString()) as Record<string, number>[];
    expect(figures).toMatchObject({ name: 'rancher-wins-counter', processes: 1 });
    expect(figures?.['stdoutBytes']).toBeGreaterThan(500);
    expect(figures?.['stderrBytes']).toBeGreaterThan(5);
    expect(figures?.['memoryBytes']).toBeGreaterThan(1_000_000);
  });

  it('is restarted by the next daemon when it died with the previous one, with one output, until it is stopped', async () => {
    await detach('--restart', 'on-failure', '--name', 'web');
    const follower = follow('logs', '-f', 'web');
    await follower.printed('line 9\n');
    const [first = 0] = ofRun();
    await killDaemon();
    process.kill(first, 'SIGKILL');
    await until(() => keepers().length === 0);
    await startDaemon();
    await until(() => ofRun().length === 1);
    expect(ofRun()).not.toEqual([first]);
    await until(() => follower.stdout().split('line 0\n').length === 3);
    const list = async (): Promise<unknown> =>
      JSON.parse((await prc('ls', '--detached', '-o', 'json')).stdout.toString());
    expect(await list()).toMatchObject([{ name: 'web', state: 'running', restarts: 1 }]);
    expect((await prc('stop', 'rancher-wins-counter')).code).toBe(0);
    expect((await follower.outcome).code).toBe(0);
    expect(await list()).toMatchObject([
      { state: 'ended', restarts: 1, restartAt: null, gaveUp: null },
    ]);
  });

  it('gives its output from an offset, its last lines, and both outputs apart', async () => {
    const name = await detach();
    const follower = follow('logs', '-f', name);
    await follower.said('error 100\n');
    workspace.write('stop', '');
    const { stdout, stderr } = await follower.outcome;
    const text = stdout.toString();
    expect(text).not.toContain('error');
    expect(stderr).toMatch(/^(error \d+00\n)+$/);
    expect((await prc('logs', name, '--offset', '7')).stdout.toString()).toBe(text.slice(7));
    const tail = await prc('logs', name, '--tail', '3');
    expect(text.endsWith(tail.stdout.toString())).toBe(true);
    // `--tail` counts lines of both outputs together.
    expect(`${tail.stdout.toString()}${tail.stderr}`.match(/\n/g)).toHaveLength(3);
    expect((await prc('logs', name, '--since', '1h')).stdout.toString()).toBe(text);
  });

  it('is not ended by a client that detaches, and a client that stays gets its exit code', async () => {
    const name = await detach();
    const leaving = follow('attach', name);
    await leaving.printed('line');
    leaving.child.kill('SIGINT');
    await leaving.outcome;
    expect(ofRun()).toHaveLength(1);
    const staying = follow('attach', name);
    await staying.printed('line');
    workspace.write('stop', '');
    expect((await staying.outcome).code).toBe(7);
  });

  it('is ended and forgotten by rm, and its keeper with it', async () => {
    const name = await detach();
    expect(keepers()).toHaveLength(1);
    expect((await prc('rm', name)).code).toBe(0);
    expect(ofRun()).toEqual([]);
    await until(() => keepers().length === 0);
    const gone = await prc('logs', name);
    expect(gone.code).toBe(127);
    expect(gone.stderr).toContain('no detached run of this client has that name');
    const state = workspace.path('run', 'rancher_wins.state', 'lasting');
    expect(existsSync(state) && readdirSync(state)).toEqual([]);
  });

  it('ends with its keeper, which is reported, and the next run gets another keeper', async () => {
    const name = await detach();
    process.kill(keepers()[0] ?? 0, 'SIGKILL');
    const { code, stderr } = await prc('wait', name);
    expect([code, stderr]).toEqual([137, `wins: ${name} was stopped: hostFailed\n`]);
    expect(ofRun()).toEqual([]);
    expect((await prc('wait', await detachEnding())).code).toBe(7);
  });

  async function detachEnding(): Promise<string> {
    workspace.write('stop', '');
    return detach();
  }

  it('is left alone by a second daemon on its state folder, which takes it over when the first has ended', async () => {
    const name = await detach();
    const refused = Daemon.launch(workspace, config);
    expect((await refused.outcome).code).toBe(69);
    expect(ofRun()).toHaveLength(1);
    // Without the sockets of the first daemon, a second daemon can start.
    const first = daemon;
    for (const socket of readdirSync(workspace.path('run')).filter((each) => !each.includes('.')))
      rmSync(workspace.path('run', socket));
    await startDaemon();
    const removal = await prc('rm', name);
    expect([removal.code, removal.stderr]).toEqual([
      125,
      expect.stringContaining('serves another daemon'),
    ]);
    const follower = follow('logs', '-f', name);
    await follower.printed('line 0\n');
    expect(ofRun()).toHaveLength(1);
    first.child.kill('SIGKILL');
    await first.outcome;
    const seen = follower.stdout().split('\n').length;
    await follower.printed(`line ${seen + 20}\n`);
    workspace.write('stop', '');
    expectCounted((await follower.outcome).stdout.toString());
    expect((await prc('wait', name)).code).toBe(7);
  });

  it('is ended by the next daemon when its keeper died while there was none', async () => {
    const name = await detach();
    await killDaemon();
    process.kill(keepers()[0] ?? 0, 'SIGKILL');
    await startDaemon();
    expect(ofRun()).toEqual([]);
    expect((await prc('wait', name)).code).toBe(137);
  });

  it('is found despite foreign files in its folder', async () => {
    const name = await detach();
    await killDaemon();
    const folder = ['run', 'rancher_wins.state', 'lasting'];
    const [noise, link] = ['a'.repeat(32), 'b'.repeat(32)];
    workspace.write(path.join(...folder, noise, 'run.json'), '{"version":1,"label":"\\u0000');
    workspace.write(
      path.join(...folder, noise, 'spool.000000000000000.bin'),
      Buffer.alloc(99, 255),
    );
    mkdirSync(workspace.path(...folder, link));
    symlinkSync('/etc/passwd', workspace.path(...folder, link, 'run.json'));
    symlinkSync('/etc/passwd', workspace.path(...folder, `keeper.${'c'.repeat(16)}.json`));
    await startDaemon();
    expect(daemon.text).not.toContain('root:');
    const listed = JSON.parse((await prc('ls', '--detached', '-o', 'json')).stdout.toString()) as {
      readonly name: string;
    }[];
    expect(listed.map((run) => run.name)).toEqual([name]);
    expect((await prc('rm', name)).code).toBe(0);
  });

  it('has a name of its own until it is forgotten', async () => {
    await detach('--name', 'web');
    const again = await prc('run', '-d', '--name', 'web', '--path', counter, '--', stop);
    expect([again.code, again.stderr]).toEqual([
      125,
      'wins: cannot start a detached run: there is a run named "web"; remove it, or choose another name\n',
    ]);
  });

  it('is refused where the entry does not grant it, and nothing runs', async () => {
    const other = workspace.program('other', COUNTER);
    await daemon[Symbol.asyncDispose]();
    config = workspace.config([other, { path: counter, lasting: { allow: false } }]);
    await startDaemon();
    for (const program of [other, counter]) {
      const { code, stderr } = await prc('run', '-d', '--path', program);
      expect(code).toBe(126);
      expect(stderr).toContain('its entry does not grant it');
    }
    expect(keepers()).toEqual([]);
  });

  it('keeps its program running while its entry has no more of it', async () => {
    const name = await detach();
    config = workspace.config([counter]);
    await daemon[Symbol.asyncDispose]();
    await startDaemon();
    expect(ofRun()).toHaveLength(1);
    expect((await prc('rm', name)).code).toBe(0);
  });

  wherePossible(
    it,
    mayMakeContainer(),
    'detached runs of another container, since none can be made',
  )('of another client is not seen, read or removed by a container', async () => {
    const name = await detach();
    const inContainer = (...args: string[]): Promise<Outcome> =>
      startInContainer([WINS, 'cli', 'prc', ...args], workspace.environment).outcome;
    const listed = await inContainer('ls', '--detached', '-o', 'json');
    expect(listed.stdout.toString().trim()).toBe('[]');
    for (const command of ['logs', 'wait', 'attach', 'rm'])
      expect((await inContainer(command, name)).code).toBe(127);
    expect(ofRun()).toHaveLength(1);
  });
});
