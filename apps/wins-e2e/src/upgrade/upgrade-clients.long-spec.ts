import { processesWith } from '../testing/process-table.js';
import { Clients, NAP, WELL } from '../testing/upgrade/upgraded-clients.js';

describe('clients of a daemon that is upgraded', () => {
  it('learn that their daemon is gone when it hangs and is ended by force', async () => {
    await using clients = await Clients.start();
    const { world, tunnel } = clients;
    const { cut, run } = await clients.begin();
    process.kill(world.supervisor.pid ?? 0, 'SIGSTOP');

    expect((await clients.upgrade(WELL, '15s').outcome).code).toBe(0);
    expect(await run.outcome).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(
        /^wins: the connection to the daemon [^\n]* was lost: [^\n]*\n$/,
      ) as string,
    });
    expect(await cut).toMatchObject({ code: 'ECONNRESET' });
    await tunnel.program.said('the tunnel is back');
    expect(await world.rest()).toBe('v1.1.0');
    expect(processesWith(`sleep\0${NAP}`)).toEqual([]);
  });
});
