/** @needs releases */
// Upgrades that a container requests through the pipe of the old daemon.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { digest, release, WindowsUpgradeWorld } from './windows-upgrade-world.js';
import { until } from './windows-workspace.js';

describe('wins cli upgrade on Windows', () => {
  it('upgrades the service, and what it has upgraded once more', async () => {
    await using world = await WindowsUpgradeWorld.running();
    const before = world.commandLine;
    for (const version of ['v1.1.0', 'v1.2.0']) {
      const { pid } = world.services.status(world.service);
      const { code, stdout, stderr } = await world.clientUpgrade(version);
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal(stdout.toString(), `wins: upgraded: the release ${version} serves\n`);
      const sha1 = digest('sha1', release(version));
      assert.deepEqual(await world.answer(), { version, sha1 });
      assert.notEqual(world.services.status(world.service).pid, pid);
      assert.equal(await world.rest(), version);
      assert.equal(world.commandLine, before);
      // Windows cannot delete the helper's copy until the helper ends.
      await until(() => world.leftovers.length === 0);
    }
    const { code, stdout } = await world.clientUpgrade('v1.2.0');
    assert.equal(code, 0);
    assert.match(stdout.toString(), /^wins: nothing: the release v1\.2\.0 already serves/);
    const older = await world.clientUpgrade('v1.1.0');
    assert.equal(older.code, 126);
    assert.match(older.stderr, /refused: .*older/);
    assert.equal(await world.rest(), 'v1.2.0');
  });
});

describe('an unhealthy release, offered by a container', () => {
  for (const [name, found] of [
    ['hangs', /cannot start the service|no answer within/],
    ['crashes', /cannot start the service|has ended/],
    ['lies', /found release "v9\.9\.9"/],
  ] as const) {
    it(`is taken back, and the container is told, when it ${name}`, async () => {
      await using world = await WindowsUpgradeWorld.running();
      const before = world.commandLine;
      const { code, stdout, stderr } = await world.clientUpgrade(name);
      assert.deepEqual([code, stdout.toString()], [125, ''], stderr);
      assert.match(stderr, /^wins: rolledBack: step \w+ failed: /);
      assert.match(stderr, found);
      assert.match(stderr, /; the previous release serves again\n$/);
      assert.equal(await world.rest(), 'v1.0.0');
      assert.equal(world.commandLine, before);
      assert.equal(digest('sha1', world.target), digest('sha1', release('v1.0.0')));
    });
  }
});
