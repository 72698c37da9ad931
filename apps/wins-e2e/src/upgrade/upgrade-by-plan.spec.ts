import { existsSync, readFileSync } from 'node:fs';
import { until } from '../testing/process-table.js';
import { nodeWithDaemon } from '../testing/upgrade/node-with-daemon.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import { sha256 } from '../testing/upgrade/upgrade-world.js';
import type { Workspace } from '../testing/workspace.js';

/** Writes a plan with two instructions. The first upgrades the daemon to the helper's release. */
function planOf(workspace: Workspace) {
  const helper = workspace.write('wins-upgrade', singleFile('v1.1.0'), 0o755);
  const runs = workspace.path('runs');
  const say = (name: string, then = '') => ({
    name,
    command: '/bin/sh',
    args: ['-c', `echo ${name} >> ${runs}; ${then}`],
    saveOutput: true,
  });
  workspace.write(
    'agent/plans/upgrade.plan',
    JSON.stringify({ instructions: [say('upgrade', `'${helper}' up --json`), say('after')] }),
  );
  const agent = (name: string) => workspace.path('agent', name);
  return {
    systemagent: {
      localEnabled: true,
      localPlanDirectory: agent('plans'),
      workDirectory: agent('work'),
      appliedPlanDirectory: agent('applied'),
      imagesDirectory: agent('images'),
    },
  };
}

it('a plan upgrades the daemon that follows it, and ends well under the new daemon', async () => {
  await using world = await nodeWithDaemon({}, planOf);
  const position = world.workspace.path('agent', 'plans', 'upgrade.pos');
  await until(() => existsSync(`${world.folder}/result.json`));
  await until(() => existsSync(position));
  expect(await world.rest()).toBe('v1.1.0');
  expect(world.result).toMatchObject({ outcome: 'upgraded', to: { version: 'v1.1.0' } });
  expect(world.installed).toBe(sha256(singleFile('v1.1.0')));
  const plan = readFileSync(world.workspace.path('agent', 'plans', 'upgrade.plan'), 'utf8');
  expect(JSON.parse(readFileSync(position, 'utf8'))).toMatchObject({
    appliedChecksum: sha256(plan),
  });
  // If the daemon was stopped before the plan had a result, the plan runs again and finds nothing to upgrade.
  const runs = readFileSync(world.workspace.path('runs'), 'utf8').trim().split('\n');
  const once = ['upgrade', 'after'];
  expect([once, ['upgrade', ...once], [...once, ...once]]).toContainEqual(runs);
});
