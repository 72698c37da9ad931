import { until } from '../testing/process-table.js';
import { CountedRuns, expectCounted } from './counted-runs.js';

describe('a detached run, with the options of its commands,', () => {
  let runs: CountedRuns;
  beforeAll(async () => {
    runs = await CountedRuns.start();
  });
  afterEach(() => runs.endAll());
  afterAll(() => runs[Symbol.asyncDispose]());

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

  it('with --rm is forgotten when it ends, after its followers have all output and its exit', async () => {
    const before = runs.kept();
    const name = await runs.detach('--rm');
    const follower = runs.follow('attach', name);
    await follower.printed('line');
    runs.finish();
    const { code, stdout } = await follower.outcome;
    expect([code, stdout.toString()]).toEqual([7, expect.stringMatching(/^(line \d+\n)+$/)]);
    await until(() => runs.kept().every((each) => before.includes(each)));
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
});
