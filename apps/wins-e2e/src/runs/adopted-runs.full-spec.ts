import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { until } from '../testing/process-table.js';
import { COUNTER, CountedRuns, expectCounted } from './counted-runs.js';

describe('a detached run whose daemon ends, or whose config changes', () => {
  let runs: CountedRuns;
  beforeEach(async () => {
    runs = await CountedRuns.start();
  });
  afterEach(() => runs[Symbol.asyncDispose]());

  async function recorded(
    where: 'events' | 'audit',
    isWanted: (record: Record<string, unknown>) => boolean,
  ): Promise<Record<string, unknown>[]> {
    const words = where === 'events' ? ['events'] : ['audit', 'show'];
    const { stdout } = await runWins(
      ['srv', ...words, '--config', runs.config, '-o', 'json'],
      runs.workspace.environment,
    );
    const lines = stdout.toString().trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(isWanted);
  }

  it('is followed from one daemon to the next before it has written anything', async () => {
    const silent = runs.workspace.program(
      'silent',
      `setInterval(() => {
        if (!require('node:fs').existsSync(process.argv[2])) return;
        console.log('line 0');
        process.exit(7);
      }, 20);`,
    );
    runs.workspace.config([runs.counter, { path: silent, detached: { allow: true } }]);
    await runWins(['srv', 'config', 'reload', '--config', runs.config], runs.workspace.environment);
    await runs.prc('run', '--detach', '--name', 'silent', '--path', silent, '--', runs.stop);
    const follower = runs.follow('logs', '-f', 'silent');
    await runs.daemon.logged(({ action }) => action === 'wait');
    await runs.stopDaemon();
    // During this 1 s, `follower` looks for the next daemon and finds none.
    await runWins(['cli', 'app', 'info', '--wait-timeout', '1s'], runs.workspace.environment);
    await runs.startDaemon();
    runs.finish();
    const { code, stdout, stderr } = await follower.outcome;
    expect([code, stdout.toString(), stderr]).toEqual([0, 'line 0\n', '']);
  });

  it('that ends while there is no daemon is known to the next one, with its output and its exit code', async () => {
    const name = await runs.detach('--name', 'web');
    expect(name).toBe('web');
    await runs.follow('logs', '-f', 'web').printed('line 9\n');
    await runs.killDaemon();
    runs.finish();
    await until(() => runs.keepers().length === 0);
    await runs.startDaemon();
    expect((await runs.prc('wait', 'web')).code).toBe(7);
    expectCounted((await runs.prc('logs', 'web')).stdout.toString());
    const [listed] = JSON.parse(
      (await runs.prc('ls', '--detached', '-o', 'json')).stdout.toString(),
    ) as [unknown];
    expect(listed).toMatchObject({
      name: 'web',
      process: 'rancher-wins-counter',
      state: 'ended',
      exit: { exitCode: 7, reason: 'exited' },
    });
    // The end is recorded only once, however many daemons start.
    await runs.stopDaemon();
    await runs.startDaemon();
    const facts = { path: runs.counter, reason: 'exited', code: 7 };
    expect(await recorded('events', ({ type }) => type === 'runEnded')).toMatchObject([facts]);
    const records = await recorded('audit', ({ kind }) => kind === 'endedWithoutDaemon');
    expect(records).toMatchObject([facts]);
  });

  it('is restarted by the next daemon when it died with the previous one, with one output, until it is stopped', async () => {
    await runs.detach('--restart', 'on-failure', '--name', 'web');
    const follower = runs.follow('logs', '-f', 'web');
    await follower.printed('line 9\n');
    const [first = 0] = runs.ofRun();
    await runs.killDaemon();
    process.kill(first, 'SIGKILL');
    await until(() => runs.keepers().length === 0);
    await runs.startDaemon();
    await until(() => runs.ofRun().length === 1);
    expect(runs.ofRun()).not.toEqual([first]);
    await until(() => follower.stdout().split('line 0\n').length === 3);
    const list = async (): Promise<unknown> =>
      JSON.parse((await runs.prc('ls', '--detached', '-o', 'json')).stdout.toString());
    expect(await list()).toMatchObject([{ name: 'web', state: 'running', restarts: 1 }]);
    expect((await runs.prc('stop', 'rancher-wins-counter')).code).toBe(0);
    expect((await follower.outcome).code).toBe(0);
    expect(await list()).toMatchObject([
      { state: 'stopped', restarts: 1, restartAt: null, gaveUp: null },
    ]);
  });

  it('ends with its keeper, which is reported, and the next run gets another keeper', async () => {
    const name = await runs.detach();
    process.kill(runs.keepers()[0] ?? 0, 'SIGKILL');
    const { code, stderr } = await runs.prc('wait', name);
    expect([code, stderr]).toEqual([137, `wins: ${name} was stopped: hostFailed\n`]);
    expect(runs.ofRun()).toEqual([]);
    expect((await runs.prc('wait', await detachEnding())).code).toBe(7);
  });

  async function detachEnding(): Promise<string> {
    runs.finish();
    return runs.detach();
  }

  it('is left alone by a second daemon on its state folder, which takes it over when the first has ended', async () => {
    const name = await runs.detach();
    const refused = Daemon.launch(runs.workspace, runs.config);
    expect((await refused.outcome).code).toBe(69);
    expect(runs.ofRun()).toHaveLength(1);
    // Without the sockets of the first daemon, a second daemon can start.
    const first = runs.daemon;
    for (const socket of readdirSync(runs.workspace.path('run')).filter(
      (each) => !each.includes('.'),
    ))
      rmSync(runs.workspace.path('run', socket));
    await runs.startDaemon();
    const removal = await runs.prc('rm', name);
    expect([removal.code, removal.stderr]).toEqual([
      125,
      expect.stringContaining('serves another daemon'),
    ]);
    const follower = runs.follow('logs', '-f', name);
    await follower.printed('line 0\n');
    expect(runs.ofRun()).toHaveLength(1);
    first.child.kill('SIGKILL');
    await first.outcome;
    const seen = follower.stdout().split('\n').length;
    await follower.printed(`line ${seen + 20}\n`);
    runs.finish();
    expectCounted((await follower.outcome).stdout.toString());
    expect((await runs.prc('wait', name)).code).toBe(7);
  });

  it('is ended by the next daemon when its keeper died while there was none', async () => {
    const name = await runs.detach();
    await runs.killDaemon();
    process.kill(runs.keepers()[0] ?? 0, 'SIGKILL');
    await runs.startDaemon();
    expect(runs.ofRun()).toEqual([]);
    expect((await runs.prc('wait', name)).code).toBe(137);
  });

  it('is found despite foreign files in its folder', async () => {
    const name = await runs.detach();
    await runs.killDaemon();
    const folder = ['run', 'rancher_wins.state', 'runs'];
    const [noise, link] = ['a'.repeat(32), 'b'.repeat(32)];
    runs.workspace.write(path.join(...folder, noise, 'run.json'), '{"version":1,"label":"\\u0000');
    runs.workspace.write(
      path.join(...folder, noise, 'spool.000000000000000.bin'),
      Buffer.alloc(99, 255),
    );
    mkdirSync(runs.workspace.path(...folder, link));
    symlinkSync('/etc/passwd', runs.workspace.path(...folder, link, 'run.json'));
    symlinkSync('/etc/passwd', runs.workspace.path(...folder, `keeper.${'c'.repeat(16)}.json`));
    await runs.startDaemon();
    expect(runs.daemon.text).not.toContain('root:');
    const listed = JSON.parse(
      (await runs.prc('ls', '--detached', '-o', 'json')).stdout.toString(),
    ) as {
      readonly name: string;
    }[];
    expect(listed.map((run) => run.name)).toEqual([name]);
    expect((await runs.prc('rm', name)).code).toBe(0);
  });

  it('that is not there is not started, and who asked is recorded', async () => {
    for (const verb of ['start', 'restart', 'rm'])
      expect((await runs.prc(verb, 'missing')).code).toBe(127);
    const records = await recorded('audit', ({ code }) => code === 'notFound');
    // An administrator's command also asks on the pipe of administrators.
    const kinds = ['start', 'start', 'start', 'start', 'stop', 'stop'];
    expect(records).toMatchObject(kinds.map((kind) => ({ kind, verdict: 'refused' })));
  });

  it('is refused where the entry does not grant it, and nothing runs', async () => {
    const other = runs.workspace.program('other', COUNTER);
    await runs.stopDaemon();
    runs.workspace.config([other, { path: runs.counter, detached: { allow: false } }]);
    await runs.startDaemon();
    for (const program of [other, runs.counter]) {
      const { code, stderr } = await runs.prc('run', '-d', '--path', program);
      expect(code).toBe(126);
      expect(stderr).toContain(
        'its entry does not grant it. Add "allow: true" to "detached" of the entry',
      );
    }
    expect(runs.keepers()).toEqual([]);
  });

  it('keeps its program running while its entry has no more of it', async () => {
    const name = await runs.detach();
    runs.workspace.config([runs.counter]);
    await runs.stopDaemon();
    await runs.startDaemon();
    expect(runs.ofRun()).toHaveLength(1);
    expect((await runs.prc('rm', name)).code).toBe(0);
  });
});
