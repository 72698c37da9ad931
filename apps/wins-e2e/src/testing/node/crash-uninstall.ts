import assert from 'node:assert/strict';
import { live, mortalRelease, type Death, type Life } from './mortal-release.js';
import { NodeWorld } from './node-world.js';

/**
 * Uninstalls a node, kills the command after one change, and uninstalls again.
 *
 * @throws Error when something remains.
 */
export async function crashUninstall(diesAt: Death): Promise<Life> {
  await using world = new NodeWorld();
  const release = mortalRelease(world);
  await world.wins(['install', '--dry-run'], {}, release);
  const before = world.snapshot();
  const installed = await world.say(['install'], {}, release);
  assert.equal(installed.code, 0, installed.reason);
  const life = await live(world, release, ['uninstall'], {}, diesAt);
  const gone = await world.say(['uninstall'], {}, release);
  assert.equal(gone.code, 0, gone.reason);
  assert.match(gone.outcome, /^(uninstalled|nothing)$/);
  assert.equal(gone.kept, undefined);
  assert.equal(world.pid, undefined);
  assert.deepEqual(world.snapshot(), before);
  return life;
}
