/** @needs releases */
// Upgrades through a Go daemon, which does not tell helpers the service's name. Helpers then use the default name.
import { processesOf } from '@wins/windows-host';
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { deathsIn } from './deaths-in.js';
import { digest, release, WindowsUpgradeWorld } from './windows-upgrade-world.js';
import { serviceLogFolders, until } from './windows-workspace.js';

const NAME = 'rancher-wins';
const GO_RELEASE = 'v0.1.1';
const NEXT = 'v1.1.0';
const MORTAL = 'mortal';

async function nodeWithGoService(): Promise<WindowsUpgradeWorld> {
  const world = WindowsUpgradeWorld.registered('original', NAME);
  // The whitelist of a Go daemon contains plain paths, without `mayBreakAway`.
  world.workspace.config([world.helper]);
  await world.services.start(NAME);
  assert.equal((await world.answer())?.version, GO_RELEASE);
  return world;
}

/** Checks that the node runs release `name` after a restart of the service, and that no processes or files of an upgrade are left. */
async function assertSettled(world: WindowsUpgradeWorld, name: string): Promise<void> {
  await world.services.stop(NAME, { timeoutMs: 30_000 });
  assert.equal(await world.rest(), NEXT);
  assert.equal(digest('sha1', world.target), digest('sha1', release(name)));
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
    await assertSettled(world, NEXT);
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
    await assertSettled(world, NEXT);
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
    assert.ok(existsSync(`${world.config}.replaced`));
    const { outcome, reason } = await world.up('--path', release('crashes'), '--wait', '10s');
    assert.equal(outcome, 'rolledBack', reason);
    assert.equal(readFileSync(world.config, 'utf8'), before);
    assert.equal(await world.rest(), GO_RELEASE);
    assert.ok(!existsSync(`${world.config}.replaced`));
  });
});

/** Runs the helper through the daemon. If `step` is given, the helper dies before that step. Returns the steps of all its processes. */
async function upgradeBelowGo(world: WindowsUpgradeWorld, step?: number): Promise<string[]> {
  copyFileSync(release(MORTAL), world.helper);
  // Not in the node's folder, because the blank in its name would end the variable in `--envs`.
  const steps = path.join(tmpdir(), `steps-${world.workspace.id}`);
  const envs = step === undefined ? `STEPS=${steps}` : `STEPS=${steps} DIE_AT=${step}`;
  const words = ['--path', world.helper, '--envs', envs, '--', 'up', '--json', '--wait=30s'];
  await world.workspace.client('prc', 'run', ...words).outcome;
  await until(() => programsOf(world).every((program) => processesOf(program).length === 0));
  try {
    return readFileSync(steps, 'utf8').trim().split('\n');
  } finally {
    rmSync(steps);
  }
}

function programsOf(world: WindowsUpgradeWorld): readonly string[] {
  const helpers = world.leftovers.filter((name) => name.startsWith('helper-'));
  return [copyOf(world), ...helpers.map((name) => path.join(world.folder, name))];
}

/**
 * Kills the helper before `step`, restarts the service, and repeats the upgrade if the Go release serves.
 *
 * @returns Release that served after the restart.
 */
async function dieAt(step: number): Promise<string> {
  await using world = await nodeWithGoService();
  const steps = await upgradeBelowGo(world, step);
  // If the helper was killed, the list ends with `step`. Exception: before `remove upgrader`, it has started a process whose steps are listed too.
  assert.ok(steps.length === step || steps[step - 1] === 'remove upgrader', 'it was not killed');
  await world.powerFails();
  let serves: string | undefined;
  // The new release exits if it starts outside its trial or if it fails the trial. The next start then runs the old release.
  await until(async () => {
    await world.start();
    serves = (await world.answer())?.version;
    return serves !== undefined && world.named === world.target;
  });
  if (serves === GO_RELEASE) {
    const { code, stderr } = await world.clientUpgrade(MORTAL);
    assert.deepEqual([code, stderr], [0, '']);
  }
  assert.equal(await world.rest(), NEXT);
  // The next helper removes files that earlier helpers could not.
  const { outcome } = await world.up('--path', release(MORTAL));
  assert.equal(outcome, 'nothing');
  await assertSettled(world, MORTAL);
  return serves ?? '';
}

describe('a helper below a Go daemon on Windows', () => {
  it('leaves one release that serves, wherever it dies', async () => {
    let steps: readonly string[];
    {
      await using world = await nodeWithGoService();
      steps = await upgradeBelowGo(world);
      await assertSettled(world, MORTAL);
    }
    const ends = new Set<string>();
    for (const step of deathsIn(steps, 5)) {
      try {
        ends.add(await dieAt(step));
      } catch (cause) {
        throw new Error(`step ${step} (${steps[step - 1] ?? ''}): ${String(cause)}`, { cause });
      }
    }
    assert.deepEqual([...ends].sort(), [GO_RELEASE, NEXT]);
  });
});
