import { nodeRelease } from '../testing/node/node-release.js';
import { NodeWorld } from '../testing/node/node-world.js';
import { Rke2OfNode } from '../testing/node/rke2-of-node.js';

it('wins suc makes rke2 depend on the daemon, and removes the dependency while it changes the daemon', async () => {
  await using world = new NodeWorld();
  expect((await world.say(['install'])).code).toBe(0);
  await using rke2 = await Rke2OfNode.start(world, false);
  const ask = (variables: NodeJS.ProcessEnv, program?: string) =>
    world.say(['suc', '--wait', '3s'], variables, program);
  const { pid } = world;
  const linked = await ask({ CATTLE_ENABLE_WINS_SERVICE_DEPENDENCY: 'true' });
  expect([linked.outcome, rke2.dependencies, world.pid]).toEqual([
    ...['installed', ['rancher-wins'], pid],
  ]);

  const changed = await ask({ CATTLE_WINS_DEBUG: 'true' }, nodeRelease(world.workspace, 'v1.1.0'));
  expect(changed.steps?.map((step) => step.replace(/:? [/"].*/, ''))).toEqual([
    '1. remove dependency rke2 rancher-wins',
    '2. stop rancher-wins',
    '3. change file',
    '4. change program',
    '5. start rancher-wins',
    '6. make dependency rke2 rancher-wins',
    '7. wait until the daemon serves',
  ]);
  expect([await world.version(), rke2.isRunning, rke2.dependencies]).toEqual([
    ...['v1.1.0', true, ['rancher-wins']],
  ]);

  const deaf = `if (args[1] === 'app' && args[2] === 'run') process.exit(1);`;
  const undone = await ask({}, nodeRelease(world.workspace, 'v1.2.0', deaf));
  expect([undone.outcome, rke2.dependencies]).toEqual(['rolledBack', ['rancher-wins']]);
  expect(await world.version()).toBe('v1.1.0');

  const skip = { CATTLE_WINS_SKIP_BINARY_UPGRADE: 'true' };
  const refused = await world.say(['uninstall']);
  expect([refused.code, refused.reason]).toEqual([65, expect.stringContaining('rke2 is running')]);
  const freed = await ask({ ...skip, CATTLE_ENABLE_WINS_SERVICE_DEPENDENCY: 'false' });
  expect([freed.outcome, rke2.dependencies]).toEqual(['installed', []]);
  await ask({ ...skip, CATTLE_ENABLE_WINS_SERVICE_DEPENDENCY: 'true' });
  await rke2[Symbol.asyncDispose]();
  expect((await world.say(['uninstall'])).outcome).toBe('uninstalled');
  expect(rke2.dependencies).toEqual([]);
});
