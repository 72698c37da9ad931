import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { UpgradeWorld } from './upgrade-world.js';

export const GO_RELEASE = 'v0.1.1';

const GO_DAEMON = path.join(__dirname, '..', '..', 'fixtures', 'programs', 'go-daemon.cjs');

/**
 * A node whose service imitates a Go daemon that may run `wins-upgrade`.
 *
 * @param whenStopped - Whether a stop of the daemon kills its runs or leaves them; in the Go release this is a race.
 * @param more - Further keys of its config, such as `cleanUpFailure`.
 */
export async function nodeWithGoDaemon(
  whenStopped: 'kills' | 'leaves',
  more: object = {},
): Promise<UpgradeWorld> {
  const world = await UpgradeWorld.empty();
  const program = `#!/bin/sh
if [ "$1" = --version ]; then echo "rancher-wins version ${GO_RELEASE}"; exit; fi
exec "${process.execPath}" "${GO_DAEMON}" "$0" ${GO_RELEASE} "$@"
`;
  writeFileSync(world.target, program, { mode: 0o755 });
  const { workspace, pipe } = world;
  const config = {
    listen: pipe,
    proxy: workspace.path('proxy'),
    whenStopped,
    service: world.definition,
    white_list: { processPaths: [workspace.path('wins-upgrade')] },
    ...more,
  };
  for (const name of ['config', 'wins.yaml']) workspace.write(name, JSON.stringify(config));
  world.define(`"${world.target}" srv app run --config "${world.config}"`);
  world.supervisor.start();
  await world.rest();
  return world;
}
