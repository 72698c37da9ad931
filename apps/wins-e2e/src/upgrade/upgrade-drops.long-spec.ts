import { writeFileSync } from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { standIn } from '../testing/packages/package-folder.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import { saidBeside, UpgradeWorld } from '../testing/upgrade/upgrade-world.js';

/** A node whose daemon follows plans and may run the next release as its helper. */
async function node() {
  const world = await UpgradeWorld.empty();
  const { workspace, pipe } = world;
  writeFileSync(world.target, singleFile('v1.0.0'), { mode: 0o755 });
  const helper = workspace.write('wins-upgrade', singleFile('v1.1.0'), 0o755);
  const proxy = workspace.path('proxy');
  const content = { listen: pipe, proxy, white_list: { processPaths: [helper] } };
  const folders = {
    workDirectory: workspace.path('agent/work'),
    appliedPlanDirectory: workspace.path('agent/applied'),
  };
  const systemagent = {
    localEnabled: true,
    localPlanDirectory: workspace.path('plans'),
    ...folders,
  };
  workspace.write('config', JSON.stringify({ ...content, systemagent }));
  world.define(`"${world.target}" srv app run --config "${world.config}"`);
  world.supervisor.start();
  await world.rest();
  const without = (name: string) => workspace.write(name, JSON.stringify(content));
  const wins = (...words: string[]) => runWins(words, workspace.environment, standIn('wins.cjs'));
  return { world, helper, without, wins };
}

const LACKS =
  /^wins: refused: the config .* lacks systemagent \(which follows the plans of the node\), which the service has now\. Restore it, or allow the loss with --allow-drop systemagent\n$/;

describe('an upgrade that would lead a service to a config without its plans', () => {
  it('is refused where the arguments of the service name another file, unless that is allowed', async () => {
    const { world, helper, without, wins } = await node();
    await using _world = world;
    const other = without('other');
    const up = ['up', '--service', world.definition, '--path', helper];
    const words = [...up, '--wins-args', `--config "${other}"`];
    const refused = await wins(...words);
    expect([refused.code, refused.stderr]).toEqual([65, expect.stringMatching(LACKS)]);
    expect(await world.rest()).toBe('v1.0.0');
    const allowed = await wins(...words, '--allow-drop', 'systemagent');
    expect([allowed.code, saidBeside(allowed.stderr)]).toEqual([0, '']);
    expect(await world.rest()).toBe('v1.1.0');
  });

  it('is refused when it runs through the daemon, until the caller allows the drop beside the config', async () => {
    const { world, helper, without, wins } = await node();
    await using _world = world;
    without('config');
    const words = ['cli', 'upgrade', '--server', world.pipe, '--path', helper];
    const upgrade = [...words, '--config', world.config, '--wait-timeout', '90s'];
    const refused = await wins(...upgrade);
    expect([refused.code, refused.stderr]).toEqual([126, expect.stringMatching(LACKS)]);
    expect(await world.rest()).toBe('v1.0.0');
    const inRun = await wins(
      'cli',
      'prc',
      'run',
      '--server',
      world.pipe,
      '--path',
      helper,
      '--',
      'up',
      '--allow-drop',
      'systemagent',
    );
    expect([inRun.code, inRun.stderr]).toEqual([65, expect.stringContaining('found --allow-drop')]);
    const allowed = await wins(...upgrade, '--allow-drop', 'systemagent');
    expect([allowed.code, saidBeside(allowed.stderr)]).toEqual([0, '']);
    expect(await world.rest()).toBe('v1.1.0');
  });
});
