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
    const before = runs.kept();
    const name = await runs.detach();
    const own = runs.kept().filter((each) => !before.includes(each));
    expect(own).not.toEqual([]);
    expect(runs.keepers()).toHaveLength(1);
    expect((await runs.prc('rm', name)).code).toBe(0);
    expect(runs.ofRun()).toEqual([]);
    await until(() => runs.keepers().length === 0);
    const gone = await runs.prc('logs', name);
    expect(gone.code).toBe(127);
    expect(gone.stderr).toContain('no detached run of this client has that name');
    expect(runs.kept().filter((each) => own.includes(each))).toEqual([]);
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
