/** @needs releases odd-releases */
import type { ServiceStatus } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { digest, release, WindowsUpgradeWorld } from './windows-upgrade-world.js';
import { isAlive, until } from './windows-workspace.js';

const toNext = ['--path', release('v1.1.0')];

async function assertUpgraded(world: WindowsUpgradeWorld, version = 'v1.1.0'): Promise<void> {
  assert.equal(world.services.status(world.service).state, 'running');
  assert.equal(await world.rest(), version);
  assert.equal(digest('sha1', world.target), digest('sha1', release(version)));
  assert.deepEqual(world.leftovers, []);
}

describe('the service of an upgrade on Windows', () => {
  it('runs afterwards when it was paused', async () => {
    await using world = WindowsUpgradeWorld.registered('paused');
    const paused = new AbortController();
    const onProgress = ({ state }: ServiceStatus): void => {
      if (state === 'paused') paused.abort();
    };
    const started = world.services.start(world.service, { onProgress, signal: paused.signal });
    await assert.rejects(started, { name: 'AbortError' });
    const { code, outcome, reason } = await world.up(...toNext);
    assert.deepEqual([code, outcome], [0, 'upgraded'], reason);
    await assertUpgraded(world);
  });

  it('is ended by force when it does not react', async () => {
    await using world = await WindowsUpgradeWorld.running('deaf');
    const { pid } = world.services.status(world.service);
    writeFileSync(world.workspace.path('deaf'), '');
    await until(async () => (await world.answer()) === undefined);
    const { code, outcome, reason } = await world.up(...toNext, '--wait', '10s');
    assert.deepEqual([code, outcome], [0, 'upgraded'], reason);
    assert.equal(isAlive(pid), false);
    await assertUpgraded(world);
  });

  it('is not touched when it is disabled, since nobody could start it again', async () => {
    await using world = await WindowsUpgradeWorld.running();
    const { pid } = world.services.status(world.service);
    world.register({ startType: 'disabled' });
    const { code, outcome, reason } = await world.up(...toNext);
    assert.deepEqual([code, outcome], [65, 'refused'], reason);
    assert.match(reason, /is disabled/);
    assert.equal(world.services.status(world.service).pid, pid);
    assert.equal((await world.answer())?.version, 'v1.0.0');
    assert.deepEqual(world.leftovers, []);
  });

  it('is not touched when the folder of the state is not ours, and that is a refusal', async () => {
    await using world = await WindowsUpgradeWorld.running();
    const { pid } = world.services.status(world.service);
    writeFileSync(world.folder, 'no folder');
    const { code, outcome, reason } = await world.up(...toNext);
    assert.deepEqual([code, outcome], [65, 'refused'], reason);
    assert.match(reason, /cannot keep the state of an upgrade in .*it is (no|not a) folder/);
    assert.equal(world.services.status(world.service).pid, pid);
    rmSync(world.folder);
  });

  it('stays or is upgraded as a whole when another one that runs depends on it', async () => {
    await using world = await WindowsUpgradeWorld.running();
    await using other = WindowsUpgradeWorld.registered();
    other.register({ dependencies: [world.service] });
    await other.services.start(other.service);
    const { code, outcome, reason } = await world.up(...toNext);
    // Wine stops a service on which another depends, but Windows does not.
    if (code !== 0) {
      assert.deepEqual([code, outcome], [1, 'rolledBack'], reason);
      assert.match(reason, /services that depend on it run; sc\.exe enumdepend/);
    }
    await assertUpgraded(world, code === 0 ? 'v1.1.0' : 'v1.0.0');
    assert.equal((await other.answer())?.version, 'v1.0.0');
  });
});
