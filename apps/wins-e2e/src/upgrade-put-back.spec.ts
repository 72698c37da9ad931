import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { startWins } from './harness/built-program.js';
import { until } from './harness/process-table.js';
import { singleFile } from './harness/single-file.js';
import { UpgradeWorld } from './harness/upgrade-world.js';

describe('wins cli upgrade --from', () => {
  it('brings the helper to its place, and again when a daemon has moved it away, as those of the original do', async () => {
    await using world = await UpgradeWorld.empty('program files/wins');
    writeFileSync(world.target, singleFile('v1.0.0'), { mode: 0o755 });
    const { workspace, pipe } = world;
    const helper = workspace.path('wins-upgrade');
    const white_list = { processPaths: [helper] };
    const proxy = workspace.path('proxy');
    workspace.write('config', JSON.stringify({ listen: pipe, proxy, white_list }));
    world.define(`"${world.target}" srv app run --config "${world.config}"`);
    world.supervisor.start();
    await world.rest();

    const from = workspace.write('image/wins', singleFile('v1.1.0'), 0o755);
    const upgrade = startWins(
      [
        ...['cli', 'upgrade', '--server', pipe, '--path', helper, '--from', from],
        ...['--service', world.definition, '--wait-timeout', '60s'],
      ],
      workspace.environment,
    );
    // The helper was run, and upgrades by a copy of itself now.
    await until(() => existsSync(`${world.folder}/journal.json`));
    rmSync(helper);
    const { code, stdout, stderr } = await upgrade.outcome;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.toString()).toBe('wins: upgraded: the release v1.1.0 serves\n');
    expect(readFileSync(helper, 'utf8')).toBe(singleFile('v1.1.0'));
  });
});
