/** @needs releases disks */
// Upgrades with locked files, and on full or read-only disks.
import { holdFile } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { digest, release, WindowsUpgradeWorld } from './windows-upgrade-world.js';
import { until } from './windows-workspace.js';

const toNext = ['--path', release('v1.1.0')];
const MOVE = 'move new program';

async function assertServes(world: WindowsUpgradeWorld, version: string): Promise<void> {
  assert.equal(await world.rest(), version);
  assert.equal(digest('sha1', world.target), digest('sha1', release(version)));
  assert.deepEqual(world.leftovers, []);
}

describe('a file that another program holds', () => {
  const triesToMove = (world: WindowsUpgradeWorld) =>
    world.effects.filter((effect) => effect === MOVE).length;

  it('is waited for when it is the program in place', async () => {
    await using world = await WindowsUpgradeWorld.running();
    const held = holdFile(world.target);
    const { outcome } = world.startUp(toNext);
    await until(() => triesToMove(world) > 2);
    held.close();
    const { code, stderr } = await outcome;
    assert.equal(code, 0, stderr);
    await assertServes(world, 'v1.1.0');
  });

  it('is waited for when it is the new program', async () => {
    await using world = await WindowsUpgradeWorld.running();
    const { outcome } = world.startUp(toNext);
    const staged = () => readdirSync(world.folder).find((name) => name.startsWith('wins-1.1.0-'));
    await until(() => existsSync(world.folder) && staged() !== undefined);
    const scanner = holdFile(path.join(world.folder, staged() ?? ''));
    await until(() => triesToMove(world) > 2);
    scanner.close();
    const { code, stderr } = await outcome;
    assert.equal(code, 0, stderr);
    await assertServes(world, 'v1.1.0');
  });

  it('gives its name up when it is a leftover that runs with the name of the new program', async () => {
    await using world = await WindowsUpgradeWorld.running();
    const stem = `wins-1.1.0-${digest('sha256', release('v1.1.0')).slice(0, 12)}`;
    // Makes the private folder.
    assert.equal((await world.up('--path', release('v1.0.0'))).outcome, 'nothing');
    const leftover = path.join(world.folder, `${stem}.exe`);
    copyFileSync(process.execPath, leftover);
    const orphan = spawn(leftover, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const ended = once(orphan, 'exit');
    await once(orphan, 'spawn');
    try {
      const { code, outcome, reason } = await world.up(...toNext);
      assert.deepEqual([code, outcome], [0, 'upgraded'], reason);
      assert.equal(await world.rest(), 'v1.1.0');
      assert.deepEqual(world.leftovers, [path.basename(leftover)]);
      const log = readFileSync(path.join(world.folder, 'upgrade.log'), 'utf8');
      assert.match(log, new RegExp(`another name.*\\(process ${orphan.pid}\\)`));
    } finally {
      orphan.kill();
      await ended;
    }
    assert.equal((await world.up(...toNext)).outcome, 'nothing');
    assert.deepEqual(world.leftovers, []);
  });

  it('is given up after a while with a message, and the old release serves', async () => {
    await using world = await WindowsUpgradeWorld.running();
    const held = holdFile(world.target);
    try {
      const { code, outcome, reason } = await world.up(...toNext);
      assert.deepEqual([code, outcome], [1, 'rolledBack'], reason);
      assert.match(reason, /step replace failed: cannot move .*wins\.exe: (another|access|the op)/);
      assert.match(reason, /the previous release serves again$/);
    } finally {
      held.close();
    }
    await assertServes(world, 'v1.0.0');
  });

  it('is replaced, or all is as before and told of, when the program in place is read-only', async () => {
    await using world = await WindowsUpgradeWorld.running();
    chmodSync(world.target, 0o444);
    const { code, reason } = await world.up(...toNext);
    if (code !== 0) {
      // Windows does not replace a read-only file, but Wine does.
      assert.equal(code, 1, reason);
      assert.match(reason, /step replace failed: .*(access|not permitted).*serves again$/);
      chmodSync(world.target, 0o666);
    }
    await assertServes(world, code === 0 ? 'v1.1.0' : 'v1.0.0');
  });
});

/** These must exist before the suite starts: a small drive, and a read-only drive with v1.0.0 on it. */
const DRIVES = { small: 'W:\\wins-e2e-small-disk', readOnly: 'V:\\wins-e2e-read-only-disk' };
const mayUse = existsSync(DRIVES.small) && existsSync(DRIVES.readOnly);
if (!mayUse) process.stderr.write('SKIPPED: full and read-only disks, since there are none\n');

describe('a disk', { skip: !mayUse }, () => {
  const assertUntouched = async (world: WindowsUpgradeWorld, pid: number) => {
    assert.equal(world.services.status(world.service).pid, pid);
    await assertServes(world, 'v1.0.0');
  };

  it('that is too full for another program is told of, and nothing is left on it', async () => {
    await using world = WindowsUpgradeWorld.empty(path.join(DRIVES.small, 'wins.exe'));
    copyFileSync(release('v1.0.0'), world.target);
    world.register();
    const { pid } = await world.services.start(world.service);
    const { code, outcome, reason } = await world.up(...toNext);
    assert.deepEqual([code, outcome], [70, 'failed'], reason);
    assert.match(reason, /cannot copy the program .*: the disk is full/);
    assert.match(reason, /now the service is running and names W:/);
    await assertUntouched(world, pid);
    await world.services.stop(world.service);
    rmSync(world.folder, { recursive: true });
  });

  it('that cannot be written is told of', async () => {
    await using world = WindowsUpgradeWorld.empty(path.join(DRIVES.readOnly, 'wins.exe'));
    world.register();
    const { pid } = await world.services.start(world.service);
    const { code, reason } = await world.up(...toNext);
    assert.equal(code, 70, reason);
    assert.match(
      reason,
      /cannot keep the state of an upgrade in V:.*wins\.exe\.upgrade: CreateDirectoryW failed/,
    );
    await assertUntouched(world, pid);
  });
});
