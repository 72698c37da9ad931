import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { startWins, type RunningProgram } from '../testing/built-program.js';
import { until } from '../testing/process-table.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';

async function node(): Promise<{ world: UpgradeWorld; helper: string }> {
  const world = await UpgradeWorld.empty('program files/wins');
  writeFileSync(world.target, singleFile('v1.0.0'), { mode: 0o755 });
  const { workspace, pipe } = world;
  const helper = workspace.path('wins-upgrade');
  const white_list = { processPaths: [helper] };
  const proxy = workspace.path('proxy');
  workspace.write('config', JSON.stringify({ listen: pipe, proxy, white_list }));
  world.define(`"${world.target}" srv app run --config "${world.config}"`);
  world.supervisor.start();
  await world.rest();
  return { world, helper };
}

function startUpgrade(world: UpgradeWorld, helper: string, ...args: string[]): RunningProgram {
  return startWins(
    ['cli', 'upgrade', '--server', world.pipe, '--path', helper, '--wait-timeout', '60s', ...args],
    world.workspace.environment,
  );
}

describe('wins cli upgrade', () => {
  it('delivers the helper, and again when a daemon has moved it, as a Go daemon does', async () => {
    const { world, helper } = await node();
    await using _world = world;
    const from = world.workspace.write('image/wins', singleFile('v1.1.0'), 0o755);
    const upgrade = startUpgrade(world, helper, '--from', from);
    // The helper now upgrades from a copy of itself.
    await until(() => existsSync(`${world.folder}/journal.json`));
    rmSync(helper);
    const { code, stdout, stderr } = await upgrade.outcome;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.toString()).toBe('wins: upgraded: the release v1.1.0 serves\n');
    expect(readFileSync(helper, 'utf8')).toBe(singleFile('v1.1.0'));
  });

  it('does not repeat an upgrade that was rolled back under the same name, unless it was interrupted', async () => {
    const { world, helper } = await node();
    await using _world = world;
    const crashes = "\nif (process.argv.includes('run')) process.exit(7);\n";
    world.workspace.write('wins-upgrade', singleFile('v1.1.0').replace('\n', crashes), 0o755);
    const upgrade = async (name: string) => {
      const { code, stderr } = await startUpgrade(world, helper, '--once', name).outcome;
      expect([code, stderr]).toEqual([125, expect.stringMatching(/^wins: rolledBack: step prove/)]);
      await world.rest();
      return { stderr, starts: world.supervisor.started.length };
    };
    const first = await upgrade('pod-1');
    expect(first.stderr).not.toContain('not retried');
    const again = await upgrade('pod-1');
    expect(again.stderr).toContain('; not retried as pod-1\n');
    expect(again.starts).toBe(first.starts);
    // `pod` is only a prefix of the first name, so this upgrade is tried.
    expect((await upgrade('pod')).starts).toBeGreaterThan(first.starts);
    // An interruption is not the fault of the release, so the upgrade is retried, but not for ever.
    const interrupt = (): void => {
      const result = JSON.stringify({ ...world.result, interrupted: true });
      writeFileSync(`${world.folder}/result.json`, result);
    };
    let { starts } = await upgrade('pod-2');
    for (const isTried of [true, true, false]) {
      interrupt();
      const next = await upgrade('pod-2');
      expect([next.starts > starts, next.stderr.includes('not retried')]).toEqual([
        isTried,
        !isTried,
      ]);
      starts = next.starts;
    }
  });
});
