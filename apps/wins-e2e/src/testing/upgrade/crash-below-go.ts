import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { runWins } from '../built-program.js';
import { processesWith, until } from '../process-table.js';
import { faultyHelper } from './faulty-helper.js';
import { GO_RELEASE, nodeWithGoDaemon } from './node-with-go-daemon.js';
import { sha256, type Faults, type UpgradeWorld } from './upgrade-world.js';

const NEXT = 'v1.1.0';

/** Has the daemon run the helper with `faults`, and waits until all processes of the upgrade have ended. */
async function upgrade(world: UpgradeWorld, faults: Faults = {}): Promise<void> {
  const { workspace, pipe } = world;
  const helper = workspace.write('wins-upgrade', faultyHelper(world, NEXT, faults), 0o755);
  const run = ['cli', 'prc', 'run', '--server', pipe, '--path', helper, '--', 'up', '--json'];
  await runWins([...run, '--wait=10s'], workspace.environment);
  await until(() => processesWith(world.driver).length === 0);
}

export async function stepsBelowGo(): Promise<number[]> {
  await using world = await nodeWithGoDaemon('kills');
  await upgrade(world);
  assert.equal(await world.rest(), NEXT);
  return world.effects.map((_, index) => index + 1);
}

/**
 * Kills the helper before effect `step`, restarts the node, and repeats the upgrade if the old release serves.
 *
 * @returns Release that served after the restart.
 */
export async function dieBelowGo(step: number, whenStopped: 'kills' | 'leaves'): Promise<string> {
  await using world = await nodeWithGoDaemon(whenStopped);
  const old = world.installed;
  const next = sha256(faultyHelper(world, NEXT));
  await upgrade(world, { [step]: 'before' });
  // Before `remove upgrader`, the helper has started a process that continues the upgrade.
  const goesOn = world.effects[step - 1] === 'remove upgrader';
  assert.ok(world.effects.length === step || goesOn, 'it was not killed');
  assert.ok([old, next].includes(world.named ?? ''), `${world.named ?? ''} is not whole`);
  await world.supervisor.powerCycle();
  let serves: string | undefined;
  // A release on trial exits if it starts too early; the service then starts the old release.
  while (serves === undefined || world.supervisor.command[0] !== world.target) {
    serves = (await world.answer())?.version;
  }
  if (serves === GO_RELEASE) await upgrade(world);
  assert.equal(await world.rest(), NEXT);
  assert.equal(world.installed, next);
  const journal = `${world.folder}/journal.json`;
  assert.ok(!existsSync(journal), existsSync(journal) ? readFileSync(journal, 'utf8') : '');
  const programs = [world.workspace.path('rancher-wins-'), `${world.folder}/helper-`];
  assert.deepEqual(
    programs.flatMap((program) => processesWith(program)),
    [],
  );
  return serves;
}
