import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fakeRelease, type Misbehaviour } from './fake-release.js';
import { type Fault, sha256, UpgradeWorld } from './upgrade-world.js';

export async function expectGoneOnWith(journals: readonly string[]): Promise<void> {
  await using world = await UpgradeWorld.running();
  mkdirSync(world.folder, { mode: 0o700 });
  for (const journal of journals) {
    writeFileSync(path.join(world.folder, 'journal.json'), journal);
    await world.supervisor.powerCycle();
    assert.equal(await world.rest(), 'v1.0.0');
  }
  writeFileSync(path.join(world.folder, 'journal.json'), journals[0] ?? '');
  assert.equal((await world.up(['--path', world.release('v1.1.0')])).code, 0);
  assert.equal(await world.rest(), 'v1.1.0');
}

export async function expectGoodEnd(
  effect: string,
  error: Fault,
  reason: string,
  exitCode: number,
): Promise<void> {
  await using world = await UpgradeWorld.running();
  const args = ['--path', world.release('v1.1.0')];
  const { code, stderr } = await world.up(args, { [effect]: error });
  assert.ok(stderr.includes(reason), stderr);
  assert.equal(code, exitCode);
  assert.equal(await world.rest(), 'v1.0.0');
  assert.equal(world.leftovers.join(), '');
}

/** Upgrades to an unhealthy release, which must be rolled back. `reason` is a pattern. */
export async function expectTakenBack(misbehaviour: Misbehaviour, reason: string): Promise<void> {
  await using world = await UpgradeWorld.running();
  const isSilent = misbehaviour === 'hangs' || misbehaviour === 'does not serve';
  const limit = ['--wait', isSilent ? '10s' : '60s'];
  const args = ['--path', world.release('v1.1.0', misbehaviour), ...limit];
  const { code, stderr } = await world.up(args);
  assert.match(stderr, new RegExp(reason));
  assert.ok(stderr.includes('the previous release serves again'), stderr);
  assert.equal(code, 1);
  assert.equal(await world.rest(), 'v1.0.0');
  assert.equal(world.installed, sha256(fakeRelease('v1.0.0')));
  assert.equal(world.result.outcome, 'rolledBack');
}
