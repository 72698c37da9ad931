import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { until } from '../testing/process-table.js';
import { fakeRelease } from '../testing/upgrade/fake-release.js';
import { nodeWithDaemon } from '../testing/upgrade/node-with-daemon.js';
import { GO_RELEASE, nodeWithGoDaemon } from '../testing/upgrade/node-with-go-daemon.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';

const BROKEN = 'white_list: [';

const entryOf = ({ config }: UpgradeWorld, entry: string) => `${config}.history/${entry}.yaml`;

/** The config in an entry of the history, below its comment line. */
const configIn = (world: UpgradeWorld, entry: string) =>
  readFileSync(entryOf(world, entry), 'utf8').replace(/^.*\n/, '');

/** A release that accepts the config. Its daemon breaks the config, as another program might, and exits. */
function meetsBrokenConfig(world: UpgradeWorld): string {
  const run = `printf '%s' '${BROKEN}' > '${world.config}'; exit 7`;
  return world.workspace.script(
    'offered/wins',
    `if [ "$1" = --version ]; then echo "rancher-wins version v1.1.0"; exit; fi\nif [ "$2" = config ]; then exit; fi\n${run}`,
  );
}

describe('an upgrade that rolls back on a node whose config was broken meanwhile', () => {
  it('restores the earlier config for an old program that keeps none, and saves the broken one', async () => {
    await using world = await UpgradeWorld.running();
    const before = readFileSync(world.config, 'utf8');
    const { code, stderr } = await world.up(['--path', meetsBrokenConfig(world)]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('the previous release serves again'),
    ]);
    expect(world.result).toMatchObject({
      outcome: 'rolledBack',
      reason: expect.stringContaining(`the config ${world.config} was restored`) as string,
    });
    expect(readFileSync(world.config, 'utf8')).toBe(before);
    expect(configIn(world, 'aside.000001')).toBe(BROKEN);
    expect(await world.rest()).toBe('v1.0.0');
    expect(world.leftovers).toEqual([]);
  });

  it('does so when the helper dies midway and runs again', async () => {
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
    await until(() => existsSync(entryOf(world, 'served.000001')));
    const { code, stderr } = await world.up(['--path', meetsBrokenConfig(world)]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('the previous release serves again'),
    ]);
    expect((await world.answer())?.version).toBe('v1.0.0');
    expect(readFileSync(world.config, 'utf8')).toBe(BROKEN);
    expect(existsSync(entryOf(world, 'aside.000001'))).toBe(false);
    expect(world.supervisor.said).toContain('the daemon starts with the previous config');
  });
});

it('a daemon on trial keeps its config once it is proven', async () => {
  await using world = await nodeWithDaemon();
  const kept = entryOf(world, 'served.000001');
  await until(() => existsSync(kept));
  rmSync(kept);
  const good = world.workspace.write('offered/wins', singleFile('v1.2.0'), 0o755);
  expect((await world.up(['--path', good])).code).toBe(0);
  await until(() => existsSync(kept));
  expect(readFileSync(kept, 'utf8')).toContain(readFileSync(world.config, 'utf8'));
});

async function deliver(world: UpgradeWorld, more: object): Promise<string> {
  const { workspace, config, pipe } = world;
  const content = JSON.stringify({ listen: pipe, proxy: workspace.path('proxy'), ...more });
  const from = workspace.write('map/config', content);
  const words = ['cli', 'deliver', '--from', from, '--to', config];
  const { code, stderr } = await runWins(words, workspace.environment);
  expect([code, stderr]).toEqual([0, '']);
  return content;
}

describe('a config that was delivered to a Go daemon, which reads it at its start alone', () => {
  const helper = (world: UpgradeWorld) => world.workspace.path('wins-upgrade');
  /** A grant in a form that Go releases reject. */
  const ours = (world: UpgradeWorld) => ({
    white_list: { processPaths: [{ path: helper(world), mayBreakAway: true }] },
  });
  const forGo = (world: UpgradeWorld) => ({ white_list: { processPaths: [helper(world)] } });
  const replaced = ({ config }: UpgradeWorld) => `${config}.delivered`;

  it('is replaced by the earlier config when the upgrade is undone and the daemon refuses the new one', async () => {
    await using world = await nodeWithGoDaemon('leaves');
    const before = readFileSync(world.config, 'utf8');
    const delivered = await deliver(world, ours(world));
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0', 'crashes')]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('the previous release serves again'),
    ]);
    expect(world.result).toMatchObject({
      outcome: 'rolledBack',
      reason: expect.stringContaining(`the config ${world.config} was restored`) as string,
    });
    expect(readFileSync(world.config, 'utf8')).toBe(before);
    expect(configIn(world, 'aside.000001')).toBe(delivered);
    expect(await world.rest()).toBe(GO_RELEASE);
    expect(existsSync(replaced(world))).toBe(false);
  });

  it('is also replaced where a daemon that exits early counts as a failed start, as on Windows', async () => {
    await using world = await nodeWithGoDaemon('leaves');
    const before = readFileSync(world.config, 'utf8');
    await deliver(world, ours(world));
    world.supervisor.servesAt = world.pipe;
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0', 'crashes')]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('the previous release serves again'),
    ]);
    expect(readFileSync(world.config, 'utf8')).toBe(before);
    expect(await world.rest()).toBe(GO_RELEASE);
  });

  it('is also replaced after several deliveries, a refused upgrade, and the death of the helper', async () => {
    await using world = await nodeWithGoDaemon('leaves');
    const before = readFileSync(world.config, 'utf8');
    await deliver(world, ours(world));
    const unwanted = world.release('v1.1.0', 'does not accept the config');
    expect((await world.up(['--path', unwanted])).code).not.toBe(0);
    await deliver(world, { ...ours(world), debug: true });
    expect(readdirSync(replaced(world))).toHaveLength(2);
    const offered = world.release('v1.1.0', 'crashes');
    const died = await world.up(['--path', offered], { 'restore config': 'before' });
    expect(died.signal).toBe('SIGKILL');
    await world.up(['--path', world.release('v1.1.0', 'does not accept the config')]);
    expect(readFileSync(world.config, 'utf8')).toBe(before);
    expect(await world.rest()).toBe(GO_RELEASE);
  });

  it('stays when the daemon was started again on it since', async () => {
    await using world = await nodeWithGoDaemon('leaves');
    const delivered = await deliver(world, forGo(world));
    expect(readdirSync(replaced(world))).toHaveLength(1);
    await world.supervisor.powerCycle();
    await world.rest();
    const { code } = await world.up(['--path', meetsBrokenConfig(world)]);
    expect(code).toBe(1);
    expect(readFileSync(world.config, 'utf8')).toBe(delivered);
    expect(await world.rest()).toBe(GO_RELEASE);
    expect(existsSync(replaced(world))).toBe(false);
  });

  it('is the only config left once the new release serves, for which deliveries keep no backup', async () => {
    await using world = await nodeWithGoDaemon('leaves');
    await deliver(world, ours(world));
    const offered = world.workspace.write('offered/wins', singleFile('v1.1.0'), 0o755);
    expect((await world.up(['--path', offered])).code).toBe(0);
    await until(() => existsSync(entryOf(world, 'served.000001')));
    await until(() => !existsSync(replaced(world)));
    await deliver(world, { ...ours(world), debug: true });
    expect(existsSync(replaced(world))).toBe(false);
  });
});
