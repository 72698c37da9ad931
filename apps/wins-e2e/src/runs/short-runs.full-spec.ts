import { until } from '../testing/process-table.js';
import { ShortRuns } from '../testing/short-runs.js';

describe('a daemon after many short runs', () => {
  it('holds no descriptor after a thousand connections that come and go', async () => {
    await using runs = await ShortRuns.start();
    const before = runs.descriptors;
    await runs.comeAndGo(1000);
    await until(() => runs.descriptors <= before);
    expect((await runs.client.info()).version).toMatch(/^v/);
  });

  it('holds no descriptor, child or record after a hundred', async () => {
    await using runs = await ShortRuns.start();
    const before = runs.descriptors;
    await runs.run(100);
    expect(runs.leftovers).toEqual([]);
    await until(() => runs.descriptors <= before);
    expect(await runs.client.runs.list()).toEqual([]);
  });
});
