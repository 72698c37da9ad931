import { runWins, startWins } from '../testing/built-program.js';
import { until } from '../testing/process-table.js';
import { Clients, expectClearEnds, WELL } from '../testing/upgrade/upgraded-clients.js';

describe('clients of a daemon that is upgraded', () => {
  it('get a clear end, or come back by themselves', () => expectClearEnds(WELL, 0, 'v1.1.0'));

  it('that come while a daemon ends get an error that says so, or are served by the next daemon', async () => {
    await using clients = await Clients.start(
      `cd "$(dirname "$0")"; trap 'echo asked' TERM; echo started
       while [ ! -e end ]; do sleep 0.02; done`,
    );
    const { world } = clients;
    const slow = clients.run();
    await slow.printed('started');
    const quick = world.workspace.script('wins-upgrade', 'echo quick');
    const upgrade = clients.upgrade(WELL);
    await slow.printed('asked');

    const run = ['cli', 'prc', 'run', '--server', world.pipe, '--path', quick];
    const refused = await runWins(run, world.workspace.environment);
    expect([refused.code, refused.stderr]).toEqual([
      125,
      expect.stringMatching(
        /^wins: the daemon on pipe [^\n]* is stopping: [^\n]*--wait-timeout[^\n]*\n$/,
      ),
    ]);
    const taken = startWins([...run, '--wait-timeout', '60s'], world.workspace.environment);
    const refusals = () => world.supervisor.said.split('"shuttingDown"').length - 1;
    await until(() => refusals() > 1);
    world.workspace.write('end', '');
    expect(await taken.outcome).toMatchObject({ code: 0, stderr: '' });
    expect(taken.stdout()).toBe('quick\n');
    expect(await slow.outcome).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('daemonStopping') as string,
    });
    expect((await upgrade.outcome).code).toBe(0);
  });
});
