import { Daemon } from '../testing/daemon.js';
import { descriptorsOf, PatternTunnel } from '../testing/tunnel/pattern-tunnel.js';
import { memoryGrowth, memoryOver } from '../testing/process-memory.js';
import { until } from '../testing/process-table.js';
import { Tunnel } from '../testing/tunnel/tunnel.js';

const MIB = 1024 * 1024;

describe('the tunnel in trouble', () => {
  let world: PatternTunnel;
  beforeEach(async () => {
    world = await PatternTunnel.make();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  it('serves others while a hundred readers never read, and takes no more than 128 MiB for them', async () => {
    await using daemon = await Daemon.start(world.workspace, world.config());
    await using tunnel = await Tunnel.start(world.workspace, world.publish);
    const both = [daemon.child.pid, tunnel.program.child.pid];
    const others = async () => expect(await world.download(20 * MIB)).toBe(20 * MIB);
    const before = await memoryOver(both, others);
    const stalled = await Promise.all(Array.from({ length: 100 }, () => world.begin(100 * MIB)));
    await world.stopped(100);
    const taken = await memoryOver(both, () => Promise.resolve());
    // 24 MiB wait for readers. The rest of the limit covers freed memory that the process still holds, which varies.
    for (const bytes of memoryGrowth(before, taken)) expect(bytes).toBeLessThan(128 * MIB);
    await others();
    for (const answer of stalled) answer.destroy();
    await until(() => world.web.openSockets.length === 0);
  });

  // All buffers on the way together hold less than 64 MiB, so the sender must wait. tunnel-load.release-spec.ts uses 1 GiB.
  it('brings 64 MiB to a reader that stalls and then goes on', () => world.stallAndGoOn(64 * MIB));

  it('holds no descriptor after a thousand short connections', async () => {
    await using daemon = await Daemon.start(world.workspace, world.config());
    await using tunnel = await Tunnel.start(world.workspace, world.publish);
    const both = [daemon.child.pid, tunnel.program.child.pid];
    const settled = both.map(descriptorsOf);
    await world.comeAndGo(1000);
    await until(() => both.every((pid, index) => descriptorsOf(pid) <= (settled[index] ?? 0)));
    expect(world.web.connections).toBe(1000);
  });

  it('survives five deaths of the daemon under load', () => world.surviveDeaths(5));
});
