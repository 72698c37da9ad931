// Tests of upgrades through a Go daemon, with the released executable. The Go daemon renames the upgrade helper to `rancher-wins-wins-upgrade` and
// starts it. The new daemon keeps its verified copy of the helper under the same path. When the new daemon starts, it ends leftover processes that
// run from this path. It must not end the helper that performs the current upgrade.
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { standInExecutable } from '../testing/packages/package-folder.js';
import { processesWith, until } from '../testing/process-table.js';
import { nodeWithGoDaemon } from '../testing/upgrade/node-with-go-daemon.js';
import { sha256 } from '../testing/upgrade/upgrade-world.js';

const RELEASE = standInExecutable();

describe('an upgrade through a Go daemon', () => {
  it.each([
    ['that kills what it runs when it is stopped', 'kills', false],
    ['that leaves what it runs, as the chart has it done', 'leaves', true],
  ] as const)('%s, ends with the new release for good', async (_, whenStopped, byChart) => {
    await using world = await nodeWithGoDaemon(whenStopped);
    const { workspace } = world;
    const helper = workspace.path('wins-upgrade');
    copyFileSync(RELEASE, byChart ? workspace.path('image') : helper);
    const words = byChart
      ? ['--from', workspace.path('image'), '--config', workspace.path('wins.yaml')]
      : [];
    const { code, stdout, stderr } = await runWins(
      [
        'cli',
        'upgrade',
        '--server',
        world.pipe,
        '--path',
        helper,
        '--wait-timeout',
        '60s',
        ...words,
      ],
      workspace.environment,
    );
    expect([code, stdout.toString(), stderr]).toEqual([
      0,
      'wins: upgraded: the release v1.0.0 serves\n',
      '',
    ]);
    expect(world.leftovers).toEqual([]);
    await world.supervisor.powerCycle();
    expect(await world.rest()).toBe('v1.0.0');
    expect(world.installed).toBe(sha256(readFileSync(RELEASE)));
    const config = byChart ? workspace.path('wins.yaml') : world.config;
    expect(world.supervisor.command).toEqual([
      world.target,
      'srv',
      'app',
      'run',
      '--config',
      config,
    ]);
    expect(existsSync(`${world.folder}/journal.json`)).toBe(false);
    await until(() => processesWith('rancher-wins-wins-upgrade', workspace.folder).length === 0);
  });
});
