import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { until } from '../testing/process-table.js';
import { fakeRelease } from '../testing/upgrade/fake-release.js';
import { nodeWithDaemon } from '../testing/upgrade/node-with-daemon.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';

const BROKEN = 'white_list: [';

/** A release that accepts the config; its daemon finds it broken by somebody, and ends at once. */
function meetsBrokenConfig(world: UpgradeWorld): string {
  const run = `printf '%s' '${BROKEN}' > '${world.config}'; exit 7`;
  return world.workspace.script(
    'offered/wins',
    `if [ "$1" = --version ]; then echo "rancher-wins version v1.1.0"; exit; fi\nif [ "$2" = config ]; then exit; fi\n${run}`,
  );
}

describe('an upgrade that rolls back on a node whose config was broken meanwhile', () => {
  it('gives an old program that keeps nothing the config back that it served with, and keeps the other', async () => {
    await using world = await UpgradeWorld.running();
    const before = readFileSync(world.config, 'utf8');
    const { code, stderr } = await world.up(['--path', meetsBrokenConfig(world)]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('the release before serves again')]);
    expect(world.result).toMatchObject({
      outcome: 'rolledBack',
      reason: expect.stringContaining(`the config ${world.config} is again the one`) as string,
    });
    expect(readFileSync(world.config, 'utf8')).toBe(before);
    expect(readFileSync(`${world.config}.not-taken`, 'utf8')).toBe(BROKEN);
    expect(await world.rest()).toBe('v1.0.0');
    expect(world.leftovers).toEqual([]);
  });

  it('does so in the next life of the helper when it dies in between', async () => {
    await using world = await UpgradeWorld.running();
    const before = readFileSync(world.config, 'utf8');
    const offered = meetsBrokenConfig(world);
    expect((await world.up(['--path', offered], { 'restore config': 'before' })).signal).toBe(
      'SIGKILL',
    );
    writeFileSync(offered, fakeRelease('v1.2.0'));
    expect((await world.up(['--path', offered])).code).toBe(0);
    expect(readFileSync(world.config, 'utf8')).toBe(before);
    expect(await world.rest()).toBe('v1.2.0');
  });

  it('leaves the file as it is when the old release starts by itself, on what it keeps', async () => {
    await using world = await nodeWithDaemon();
    await until(() => existsSync(`${world.config}.last-good/config`));
    const { code, stderr } = await world.up(['--path', meetsBrokenConfig(world)]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('the release before serves again')]);
    expect((await world.answer())?.version).toBe('v1.0.0');
    expect(readFileSync(world.config, 'utf8')).toBe(BROKEN);
    expect(existsSync(`${world.config}.not-taken`)).toBe(false);
    expect(world.supervisor.said).toContain(
      'the daemon starts with the one that was in force before',
    );
  });
});

it('a daemon on trial keeps its config once it is proven', async () => {
  await using world = await nodeWithDaemon();
  const kept = `${world.config}.last-good/config`;
  await until(() => existsSync(kept));
  rmSync(kept);
  const good = world.workspace.write('offered/wins', singleFile('v1.2.0'), 0o755);
  expect((await world.up(['--path', good])).code).toBe(0);
  await until(() => existsSync(kept));
  expect(readFileSync(kept, 'utf8')).toContain(readFileSync(world.config, 'utf8'));
});
