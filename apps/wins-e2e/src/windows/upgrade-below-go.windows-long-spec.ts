/** @needs releases odd-releases */
// Upgrades through a Go daemon, which does not tell helpers the service's name. Helpers then use the default name.
import { processesOf } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { digest, release, WindowsUpgradeWorld } from './windows-upgrade-world.js';
import { serviceLogFolders, until } from './windows-workspace.js';

const NAME = 'rancher-wins';
const GO_RELEASE = 'v0.1.1';
const NEXT = 'v1.1.0';

async function nodeWithGoService(): Promise<WindowsUpgradeWorld> {
  const world = WindowsUpgradeWorld.registered('original', NAME);
  // The whitelist of a Go daemon contains plain paths, without `mayBreakAway`.
  world.workspace.config([world.helper]);
  await world.services.start(NAME);
  assert.equal((await world.answer())?.version, GO_RELEASE);
  return world;
}

/** Checks that the node runs the next release after a restart of the service, and that no processes or files of an upgrade are left. */
async function assertSettled(world: WindowsUpgradeWorld): Promise<void> {
  await world.services.stop(NAME, { timeoutMs: 30_000 });
  assert.equal(await world.rest(), NEXT);
  assert.equal(digest('sha1', world.target), digest('sha1', release(NEXT)));
  assert.ok(!existsSync(path.join(world.folder, 'journal.json')));
  await until(() => world.leftovers.length === 0);
  assert.deepEqual(processesOf(copyOf(world)), []);
}

/** Counts log lines that report an ended leftover process. */
function endedLeftovers(): number {
  const files = serviceLogFolders().flatMap((folder) =>
    readdirSync(folder).map((name) => path.join(folder, name)),
  );
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  return texts.join('').split('ended a process of an earlier daemon').length - 1;
}

function copyOf({ helper }: WindowsUpgradeWorld): string {
  return path.join(path.dirname(helper), `rancher-wins-${path.basename(helper)}`);
}

describe('an upgrade through a Go daemon on Windows', () => {
  it('ends with the new release for good', async () => {
    const ended = endedLeftovers();
    await using world = await nodeWithGoService();
    const before = world.commandLine;
    const { code, stdout, stderr } = await world.clientUpgrade(NEXT);
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(stdout.toString(), `wins: upgraded: the release ${NEXT} serves\n`);
    await assertSettled(world);
    assert.equal(endedLeftovers(), ended);
    assert.equal(world.commandLine, before);
  });

  it('ends with the new release and its config for good, as the chart has it done', async () => {
    const ended = endedLeftovers();
    await using world = await nodeWithGoService();
    const config = world.workspace.path('wins.yaml');
    copyFileSync(world.config, config);
    const words = ['--path', world.helper, '--from', release(NEXT), '--config', config];
    const { code, stderr } = await world.workspace.client('upgrade', ...words).outcome;
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(world.commandLine.endsWith(`--config "${config}"`), world.commandLine);
    await assertSettled(world);
    assert.equal(endedLeftovers(), ended);
  });

  it('gives the daemon the config back that it served with, when another was delivered that it refuses', async () => {
    await using world = await nodeWithGoService();
    const before = readFileSync(world.config, 'utf8');
    const { listen, proxy } = JSON.parse(before) as Record<string, unknown>;
    const white_list = { processPaths: [{ path: world.helper, mayBreakAway: true }] };
    const from = world.workspace.path('delivered');
    writeFileSync(from, JSON.stringify({ listen, proxy, white_list }));
    const words = ['cli', 'deliver', '--from', from, '--to', world.config];
    const { code, stderr } = await world.workspace.run(...words);
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(existsSync(`${world.config}.delivered`));
    const { outcome, reason } = await world.up('--path', release('crashes'), '--wait', '10s');
    assert.equal(outcome, 'rolledBack', reason);
    assert.equal(readFileSync(world.config, 'utf8'), before);
    assert.equal(await world.rest(), GO_RELEASE);
    assert.ok(!existsSync(`${world.config}.delivered`));
  });
});
