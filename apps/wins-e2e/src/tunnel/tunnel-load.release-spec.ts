import { Daemon } from '../testing/daemon.js';
import { descriptorsOf, PatternTunnel, sendPattern } from '../testing/tunnel/pattern-tunnel.js';
import { memoryGrowth, memoryOver } from '../testing/process-memory.js';
import { until } from '../testing/process-table.js';
import { Tunnel } from '../testing/tunnel/tunnel.js';

const MIB = 1024 * 1024;

describe('the tunnel under load', () => {
  let world: PatternTunnel;
  beforeEach(async () => {
    world = await PatternTunnel.make();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  it('carries an answer of 1 GiB unchanged', async () => {
    await using _daemon = await Daemon.start(world.workspace, world.config());
    await using _tunnel = await Tunnel.start(world.workspace, world.publish);
    expect(await world.download(1024 * MIB)).toBe(1024 * MIB);
  });

  it('carries a request of 1 GiB unchanged', async () => {
    await using _daemon = await Daemon.start(world.workspace, world.config());
    await using _tunnel = await Tunnel.start(world.workspace, world.publish);
    expect(await sendPattern(world.port, 1024 * MIB)).toBe(String(1024 * MIB));
  });

  it('brings 1 GiB to a reader that stalls and then goes on', () => world.stallAndGoOn(1024 * MIB));

  it('holds nothing after ten thousand short connections', async () => {
    await using daemon = await Daemon.start(world.workspace, world.config());
    await using tunnel = await Tunnel.start(world.workspace, world.publish);
    const both = [daemon.child.pid, tunnel.program.child.pid];
    const settled = both.map(descriptorsOf);
    // The samples must span more than one full garbage collection.
    const warm = await memoryOver(both, () => world.comeAndGo(2000));
    const growth = memoryGrowth(warm, await memoryOver(both, () => world.comeAndGo(2000)));
    for (const bytes of growth) expect(bytes).toBeLessThan(32 * MIB);
    await until(() => both.every((pid, index) => descriptorsOf(pid) <= (settled[index] ?? 0)));
    expect(world.web.connections).toBe(24_000);
  });

  it('survives a hundred deaths of the daemon under load', () => world.surviveDeaths(100));
});
