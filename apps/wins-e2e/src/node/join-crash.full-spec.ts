import { crashAndJoin, linesOf } from '../testing/node/crash-node.js';
import { NodeWorld, startCluster } from '../testing/node/node-world.js';
import { until } from '../testing/process-table.js';

it('a join that was killed midway is undone by the next command', async () => {
  await using cluster = await startCluster();
  expect(await crashAndJoin(cluster, 14)).toBe('undone');
});

it('a join that is asked to end midway undoes its changes', async () => {
  await using cluster = await startCluster();
  await using world = new NodeWorld();
  await world.wins(['install', '--dry-run']);
  const before = world.snapshot();
  const join = world.start(['join', '-o', 'json'], cluster.variables);
  await until(() => linesOf(world) >= 6);
  join.child.kill('SIGTERM');
  const { code, stdout } = await join.outcome;
  expect([code, JSON.parse(String(stdout))]).toMatchObject([1, { outcome: 'rolledBack' }]);
  expect(String(stdout)).toContain('SIGTERM was received');
  expect(world.snapshot()).toEqual(before);
  expect(world.pid).toBeUndefined();
});
