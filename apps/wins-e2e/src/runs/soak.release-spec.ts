import { memoryGrowth, memoryOver } from '../testing/process-memory.js';
import { until } from '../testing/process-table.js';
import { ShortRuns } from '../testing/short-runs.js';

/** Number of runs before each of twelve memory samples. Caches and pools grow during the first six. */
const RUNS_PER_LOOK = 840;
const MEGABYTE = 1024 * 1024;

describe('a daemon after ten thousand short runs', () => {
  it('holds no descriptor after ten thousand connections that come and go', async () => {
    await using runs = await ShortRuns.start();
    const before = runs.descriptors;
    await runs.comeAndGo(10_000);
    await until(() => runs.descriptors <= before);
    expect((await runs.client.info()).version).toMatch(/^v/);
  });

  it('holds no more memory, descriptors, children or records than before', async () => {
    await using runs = await ShortRuns.start();
    const before = runs.descriptors;
    const memory = () => memoryOver([runs.daemon.child.pid], () => runs.run(RUNS_PER_LOOK));
    const warm = await memory();
    const [growth] = memoryGrowth(warm, await memory());
    expect(growth).toBeLessThan(24 * MEGABYTE);
    expect(runs.leftovers).toEqual([]);
    await until(() => runs.descriptors <= before);
    expect(await runs.client.runs.list()).toEqual([]);
  });
});
