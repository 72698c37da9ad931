import { runWins } from '../testing/built-program.js';
import { CountedRuns } from '../runs/counted-runs.js';

describe('a shell', () => {
  let runs: CountedRuns;
  beforeAll(async () => {
    runs = await CountedRuns.start();
  });
  afterAll(() => runs[Symbol.asyncDispose]());

  async function offered(...words: string[]): Promise<readonly string[]> {
    const typed = ['--get-completions', 'wins', ...words, ''];
    const { code, stdout, stderr } = await runWins(typed, runs.workspace.environment);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.toString().trimEnd().split('\n');
  }

  it('is offered living runs to stop, and detached runs, also ended ones, to read', async () => {
    const client = runs.follow('run', '--path', runs.counter, '--', runs.stop);
    await client.printed('line 1\n');
    await runs.detach('--name', 'web');
    const [web, process] = ['web', 'rancher-wins-counter'].map(
      (name) => `${name}\ta run of the daemon`,
    );
    expect(await offered('cli', 'prc', 'logs')).toEqual([':words', web]);
    const toStop = await offered('cli', 'prc', 'stop');
    expect(toStop.toSorted()).toEqual([':words', process, web].toSorted());
    runs.finish();
    await client.outcome;
    await runs.prc('wait', 'web');
    expect(await offered('cli', 'prc', 'logs')).toEqual([':words', web]);
    expect(await offered('cli', 'prc', 'stop', '--server', 'none')).toEqual([':words']);
  });

  it('is offered the keys of the config', async () => {
    const keys = await offered('srv', 'config', 'explain');
    expect(keys).toContainEqual(expect.stringMatching(/^audit\.maxFiles\t\S/));
  });
});
