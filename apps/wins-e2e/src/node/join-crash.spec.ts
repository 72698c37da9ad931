import { crashAndJoin } from '../testing/node/crash-node.js';
import { startCluster } from '../testing/node/node-world.js';

it('is ended by the next command when the one before was killed in the middle', async () => {
  await using cluster = await startCluster();
  expect(await crashAndJoin(cluster, 14)).toBe('undone');
});
