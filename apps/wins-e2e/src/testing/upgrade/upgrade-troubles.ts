import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Fault, UpgradeWorld } from './upgrade-world.js';

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
