import { existsSync, readdirSync } from 'node:fs';
import type { Outcome } from '../testing/built-program.js';
import { mayMakeContainer, startInContainer } from '../testing/other-container.js';
import { until } from '../testing/process-table.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS } from '../testing/workspace.js';
import { CountedRuns, expectCounted } from './counted-runs.js';

describe('a detached run', () => {
  let runs: CountedRuns;
  beforeAll(async () => {
    runs = await CountedRuns.start();
  });
  afterEach(() => runs.endAll());
  afterAll(() => runs[Symbol.asyncDispose]());

  /** Names of what is kept of runs. */
  function kept(): string[] {
    const state = runs.workspace.path('run', 'rancher_wins.state', 'runs');
    return existsSync(state) ? readdirSync(state) : [];
  }

  it.each([
    ['killed', () => runs.killDaemon()],
    ['stopped', () => runs.stopDaemon()],
  ])('outlives a daemon that is %s, and a follower gets every line once', async (_how, end) => {
    const name = await runs.detach();
    const follower = runs.follow('logs', '-f', name);
    await follower.printed('line 20\n');
    await end();
    const [pid] = runs.ofRun();
    await runs.startDaemon();
    expect(runs.ofRun()).toEqual([pid]);
    const seen = follower.stdout().split('\n').length;
    await follower.printed(`line ${seen + 50}\n`);
    runs.finish();
    const { code, stdout } = await follower.outcome;
    expect(code).toBe(0);
    expect(expectCounted(stdout.toString())).toBeGreaterThan(seen + 50);
    const waited = await runs.prc('wait', name);
    expect([waited.code, waited.stdout.toString()]).toEqual([7, '']);
  });

  it('shows its resource use, like every run', async () => {
    const name = await runs.detach();
    const follower = runs.follow('logs', '-f', name);
    await follower.said('error 20\n');
    follower.child.kill();
    const { stdout } = await runs.prc('stats');
    const [figures] = JSON.parse(stdout.toString()) as Record<string, number>[];
    expect(figures).toMatchObject({ name, process: 'rancher-wins-counter', processes: 1 });
    expect(figures?.['stdoutBytes']).toBeGreaterThan(100);
    expect(figures?.['stderrBytes']).toBeGreaterThan(5);
    expect(figures?.['memoryBytes']).toBeGreaterThan(1_000_000);
  });

  it('is inspected with its arguments and the names of its variables, never their values', async () => {
    const name = await runs.detach('-e', 'COUNTER_TOKEN=secret', '--name', 'looked-at');
    await runs.detach('--name', 'mail');
    const inspect = (...words: string[]) => runs.prc('inspect', ...words);
    const { stdout } = await inspect(name);
    const run: unknown = JSON.parse(stdout.toString());
    expect(run).toMatchObject({
      name,
      path: runs.counter,
      args: [runs.stop],
      variables: ['COUNTER_TOKEN'],
      state: 'running',
      owner: expect.stringMatching(/^(uid-\d+|[0-9a-f]{12})$/) as string,
      restartPolicy: 'no',
      exit: null,
    });
    expect(stdout.toString()).not.toContain('secret');
    runs.finish();
    await runs.prc('wait', name);
    const chosen = await inspect(name, 'mail', '-o', 'jsonpath={[*].name} {[0].exit.exitCode}');
    expect(chosen.stdout.toString()).toBe('looked-at mail 7\n');
    const table = await inspect(name, 'mail', 'none', '-o', 'table');
    expect([table.code, table.stderr]).toEqual([
      127,
      'wins: cannot find "none": no detached run of this client has that name; "wins cli prc ls --detached" lists them\n',
    ]);
    expect(table.stdout.toString()).toMatch(
      /^FIELD +VALUE\nname +looked-at\n[^]*\nstate +ended\n[^]*\nexit +7 \(exited\)\n[^]*\n\nname +mail\n/,
    );
  });

  it('gives its output from an offset, its last lines, and both outputs apart', async () => {
    const name = await runs.detach();
    const follower = runs.follow('logs', '-f', name);
    await follower.said('error 20\n');
    runs.finish();
    const { stdout, stderr } = await follower.outcome;
    const text = stdout.toString();
    expect(text).not.toContain('error');
    expect(stderr).toMatch(/^(error \d*[02468]0\n)+$/);
    expect((await runs.prc('logs', name, '--offset', '7')).stdout.toString()).toBe(text.slice(7));
    const tail = await runs.prc('logs', name, '--tail', '3');
    expect(text.endsWith(tail.stdout.toString())).toBe(true);
    // `--tail` counts lines of both outputs together.
    expect(`${tail.stdout.toString()}${tail.stderr}`.match(/\n/g)).toHaveLength(3);
    expect((await runs.prc('logs', name, '--since', '1h')).stdout.toString()).toBe(text);
  });

  it('is not ended by a client that detaches, and a client that stays gets its exit code', async () => {
    const name = await runs.detach();
    const leaving = runs.follow('attach', name);
    await leaving.printed('line');
    leaving.child.kill('SIGINT');
    await leaving.outcome;
    expect(runs.ofRun()).toHaveLength(1);
    const staying = runs.follow('attach', name);
    await staying.printed('line');
    runs.finish();
    expect((await staying.outcome).code).toBe(7);
  });

  it('is ended and forgotten by rm, and its keeper with it', async () => {
    const before = kept();
    const name = await runs.detach();
    const own = kept().filter((each) => !before.includes(each));
    expect(own).not.toEqual([]);
    expect(runs.keepers()).toHaveLength(1);
    expect((await runs.prc('rm', name)).code).toBe(0);
    expect(runs.ofRun()).toEqual([]);
    await until(() => runs.keepers().length === 0);
    const gone = await runs.prc('logs', name);
    expect(gone.code).toBe(127);
    expect(gone.stderr).toContain('no detached run of this client has that name');
    expect(kept().filter((each) => own.includes(each))).toEqual([]);
  });

  it('with --rm is forgotten when it ends, after its followers have all output and its exit', async () => {
    const before = kept();
    const name = await runs.detach('--rm');
    const follower = runs.follow('attach', name);
    await follower.printed('line');
    runs.finish();
    const { code, stdout } = await follower.outcome;
    expect([code, stdout.toString()]).toEqual([7, expect.stringMatching(/^(line \d+\n)+$/)]);
    await until(() => kept().every((each) => before.includes(each)));
    expect((await runs.prc('logs', name)).code).toBe(127);
  });

  it('with --rm tells its clients how it ended, also if the daemon was killed meanwhile', async () => {
    const name = await runs.detach('--rm');
    const follower = runs.follow('logs', '-f', name);
    const staying = runs.follow('attach', name);
    await staying.printed('line');
    await follower.printed('line 20\n');
    await runs.killDaemon();
    await runs.startDaemon();
    runs.finish();
    expect((await staying.outcome).code).toBe(7);
    expectCounted((await follower.outcome).stdout.toString());
  });

  it.each([
    [['-d', '--restart', 'always'], '--rm cannot be combined with --restart'],
    [[], '--rm needs --detach: no other run is kept when it has ended'],
  ])('is refused with --rm and %j', async (more, message) => {
    const { code, stderr } = await runs.prc('run', '--rm', ...more, '--path', runs.counter);
    expect([code, stderr]).toEqual([
      125,
      `wins: ${message}; run 'wins help cli prc run' for its options\n`,
    ]);
  });

  it('is inspected without --detach too, while it lives', async () => {
    const client = runs.follow('run', '--path', runs.counter, '--', runs.stop);
    await client.printed('line 1\n');
    const name = 'rancher-wins-counter';
    const { stdout } = await runs.prc('inspect', name);
    expect(JSON.parse(stdout.toString())).toMatchObject({ name, args: null, state: 'running' });
    runs.finish();
    await client.outcome;
    expect((await runs.prc('inspect', name)).code).toBe(127);
  });

  it('has a name of its own until it is forgotten', async () => {
    await runs.detach('--name', 'web');
    const words = ['-d', '--name', 'web', '--path', runs.counter, '--', runs.stop];
    const again = await runs.prc('run', ...words);
    expect([again.code, again.stderr]).toEqual([
      125,
      'wins: cannot start a detached run: there is a run named "web"; remove it, replace it (--replace), or choose another name\n',
    ]);
  });

  wherePossible(
    it,
    mayMakeContainer(),
    'detached runs of another container, since none can be made',
  )('of another client is not seen, read or removed by a container', async () => {
    const name = await runs.detach();
    const inContainer = (...args: string[]): Promise<Outcome> =>
      startInContainer([WINS, 'cli', 'prc', ...args], runs.workspace.environment).outcome;
    const listed = await inContainer('ls', '--detached', '-o', 'json');
    expect(listed.stdout.toString().trim()).toBe('[]');
    for (const command of ['logs', 'wait', 'attach', 'inspect', 'rm'])
      expect((await inContainer(command, name)).code).toBe(127);
    expect(runs.ofRun()).toHaveLength(1);
  });

  wherePossible(
    it,
    mayMakeContainer(),
    'detached runs of another container, since none can be made',
  )('is not there for another container that knows the name of its process', async () => {
    await runs.detach();
    const inContainer = async (...args: string[]) => {
      const words = [WINS, 'cli', 'prc', ...args];
      const { outcome } = startInContainer(words, runs.workspace.environment);
      const { code, stdout, stderr } = await outcome;
      return { code, said: `${stdout.toString()}${stderr}` };
    };
    const process = 'rancher-wins-counter';
    const verbs = [['stop'], ['stop', '--now'], ['stats'], ['inspect'], ['wait']];
    const [list, ...answers] = await Promise.all([
      inContainer('ls', '-o', 'json'),
      ...verbs.map((verb) => inContainer(...verb, process)),
      ...verbs.map((verb) => inContainer(...verb, 'rancher-wins-unknown')),
    ]);
    expect(list.said.trim()).toBe('[]');
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 127));
    const said = answers.map((answer) => answer.said.replaceAll('unknown', 'counter'));
    expect(said.slice(0, verbs.length)).toEqual(said.slice(verbs.length));
    expect(runs.ofRun()).toHaveLength(1);
    const { stdout } = await runs.prc('ls', '-o', 'json');
    expect(JSON.parse(stdout.toString())).toMatchObject([{ process }]);
    expect((await runs.prc('stop', process)).code).toBe(0);
    expect(runs.ofRun()).toEqual([]);
  });
});
