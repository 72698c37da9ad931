import { readFileSync } from 'node:fs';
import { NodeWorld, startCluster } from '../testing/node/node-world.js';
import { standInExecutable } from '../testing/packages/package-folder.js';

it('joins a server from the one file that is released, and tells its clients apart without leaving a file', async () => {
  const program = standInExecutable();
  await using cluster = await startCluster();
  await using world = new NodeWorld();
  await world.wins(['install', '--dry-run'], {}, program);
  const before = world.snapshot();
  const joined = await world.say(['join'], cluster.variables, program);
  expect([joined.code, joined.reason]).toEqual([0, 'the node is in the requested state']);
  expect(cluster.api.requests.length).toBeGreaterThan(0);
  // Only administrators may run this command, so its success proves that the daemon identified the client.
  const { code, stdout } = await world.wins(['srv', 'plan', 'status'], {}, program);
  expect([code, String(stdout)]).toEqual([0, expect.stringContaining('remote')]);
  const maps = readFileSync(`/proc/${world.pid ?? 0}/maps`, 'utf8');
  expect(maps).toMatch(/\/rancher-wins-\w+\/koffi\.node \(deleted\)/);
  const gone = await world.say(['uninstall'], {}, program);
  expect([gone.code, gone.outcome]).toEqual([0, 'uninstalled']);
  expect(world.snapshot()).toEqual(before);
});
