import assert from 'node:assert/strict';
import { fakeRelease } from './fake-release.js';
import { sha256, type UpgradeWorld } from './upgrade-world.js';

export function expectUntouched(world: UpgradeWorld): void {
  assert.equal(world.supervisor.started.length, 1);
  assert.equal(world.installed, sha256(fakeRelease('v1.0.0')));
  assert.equal(world.supervisor.command[0], world.target);
  assert.equal(world.leftovers.join(), '');
}
