import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fakeRelease, type Misbehaviour } from './fake-release.js';
import { type Fault, sha256, UpgradeWorld } from './upgrade-world.js';

export async function expectGoneOnWith(journal: string): Promise<void> {
  await using world = await UpgradeWorld.running();
  mkdirSync(world.folder, { mode: 0o700 });
  writeFileSync(path.join(world.folder, 'journal.json'), journal);
  await world.supervisor.powerCycle();
  assert.equal(await world.rest(), 'v1.0.0');
  assert.equal((await world.up(['--path', world.release('v1.1.0')])).code, 0);
  assert.equal(await world.rest(), 'v1.1.0');
}

export async function expectGoodEnd(
  effect: string,
  error: Fault,
  reason: string,
  exitCode: number,
): Promise<void> {
  await using dry = await UpgradeWorld.running();
  await dry.up(['--path', dry.release('v1.1.0')]);

  await using world = await UpgradeWorld.running();
  const faults = { [dry.effects.indexOf(effect) + 1]: error };
  const { code, stderr } = await world.up(['--path', world.release('v1.1.0')], faults);
  assert.ok(stderr.includes(reason), stderr);
  assert.equal(code, exitCode);
  assert.equal(await world.rest(), 'v1.0.0');
  assert.equal(world.leftovers.join(), '');
}

/** Upgrades to an unhealthy release, which must be rolled back. `reason` is a pattern. */
export async function expectTakenBack(misbehaviour: Misbehaviour, reason: string): Promise<void> {
  await using world = await UpgradeWorld.running();
  const args = ['--path', world.release('v1.1.0', misbehaviour), '--wait', '10s'];
  const { code, stderr } = await world.up(args);
  assert.match(stderr, new RegExp(reason));
  assert.ok(stderr.includes('the previous release serves again'), stderr);
  assert.equal(code, 1);
  assert.equal(await world.rest(), 'v1.0.0');
  assert.equal(world.installed, sha256(fakeRelease('v1.0.0')));
  assert.equal(world.result.outcome, 'rolledBack');
}
