import { writeFileSync } from 'node:fs';
import { singleFile } from './single-file.js';
import type { Workspace } from '../workspace.js';
import { UpgradeWorld } from './upgrade-world.js';

/** Starts a node with the real daemon, whose whitelist contains the upgrade helper and `sleeper`. */
export async function nodeWithDaemon(
  allowed: object = {},
  keysOf: (workspace: Workspace) => object = () => ({}),
): Promise<UpgradeWorld> {
  const world = await UpgradeWorld.empty('program files/wins');
  writeFileSync(world.target, singleFile('v1.0.0'), { mode: 0o755 });
  const upgrader = world.workspace.path('wins-upgrade');
  world.workspace.write(
    'config',
    JSON.stringify({
      listen: world.pipe,
      proxy: world.workspace.path('proxy'),
      white_list: { processPaths: [upgrader, world.workspace.path('sleeper')], ...allowed },
      ...keysOf(world.workspace),
    }),
  );
  world.define(`"${world.target}" srv app run --config "${world.config}"`);
  world.supervisor.start();
  await world.rest();
  return world;
}
