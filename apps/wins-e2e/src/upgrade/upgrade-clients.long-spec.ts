import { connect } from 'node:net';
import { runWins, startWins } from '../testing/built-program.js';
import { processesWith, until } from '../testing/process-table.js';
import { Clients, expectClearEnds, NAP, say, WELL } from '../testing/upgrade/upgraded-clients.js';

/** The daemon of this release serves, but reports another version. */
const LIES = WELL.replace(
  `'VERSION = "v1.1.0"'`,
  `'VERSION = ' + JSON.stringify(args.includes('run') ? 'v9.9.9' : 'v1.1.0')`,
);
/** The daemon of this release starts only after a file named `go` exists beside the config. */
const LATE = WELL.replace(
  '\n',
  `
const config = process.argv[process.argv.indexOf('--config') + 1];
const go = require('node:path').join(require('node:path').dirname(config), 'go');
while (process.argv.includes('run') && !require('node:fs').existsSync(go))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
`,
);

describe('clients of a daemon that is upgraded', () => {
  it('learn that their daemon is gone when it hangs and is ended by force', async () => {
    await using clients = await Clients.start();
    const { world, tunnel } = clients;
    const { cut, run } = await clients.begin();
    process.kill(world.supervisor.pid ?? 0, 'SIGSTOP');

    expect((await clients.upgrade(WELL, '40s').outcome).code).toBe(0);
    expect(await run.outcome).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(
        /^wins: the connection to the daemon [^\n]* was lost[^\n]*\n$/,
      ) as string,
    });
    expect(await cut).toMatchObject({ code: 'ECONNRESET' });
    await tunnel.program.said('the tunnel is back');
    expect(await world.rest()).toBe('v1.1.0');
    expect(processesWith(`sleep\0${NAP}`)).toEqual([]);
  });

  it('get a clear end, or come back by themselves, when it goes back to its release', () =>
    expectClearEnds(LIES, 1, 'v1.0.0'));

  it('wait while no daemon serves, if they may, and say so at once if not', async () => {
    await using clients = await Clients.start(`echo "started $1"; exec sleep "$1"`);
    const { world, tunnel, port } = clients;
    const first = clients.run('--args', NAP);
    await first.printed('started');
    const upgrade = clients.upgrade(LATE);
    await tunnel.program.said('the tunnel is lost');
    await first.outcome;
    // The pipe may outlive the tunnel for a moment, so ask until it is gone.
    const ask = async (): Promise<string> => {
      const { code, stderr } = await clients.run('--args', '0').outcome;
      expect([code, stderr]).toEqual([125, expect.stringMatching(/^wins: [^\n]+\n$/)]);
      return stderr;
    };
    while (
      !/^wins: cannot connect to .* \(--wait-timeout waits for it; [^\n]*\)\n$/.test(await ask())
    );
    const short = await clients.run('--args', '0', '--wait-timeout', '300ms').outcome;
    expect([short.code, short.stderr]).toEqual([125, expect.stringMatching(/^wins: cannot conn/)]);

    const patient = clients.run('--args', '0', '--wait-timeout', '60s');
    const socket = connect(port, '127.0.0.1');
    const answer = say(socket, 'held');
    world.workspace.write('go', '');
    expect(await answer).toBe('held');
    socket.destroy();
    expect(await patient.outcome).toMatchObject({ code: 0, stderr: '' });
    expect(patient.stdout()).toBe('started 0\n');
    expect((await upgrade.outcome).code).toBe(0);
    expect(await world.rest()).toBe('v1.1.0');
  });

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
