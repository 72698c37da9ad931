import { mayMount } from '@wins/base/testing';
import { spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeRelease } from '../testing/node/node-release.js';
import { NodeWorld, startCluster } from '../testing/node/node-world.js';
import { wherePossible } from '../testing/where-possible.js';

describe('a node that changes', () => {
  it('gets another release when it joins again, and no older one unless that is allowed', async () => {
    await using cluster = await startCluster();
    await using world = new NodeWorld();
    expect((await world.say(['join'], cluster.variables)).outcome).toBe('installed');
    const newer = nodeRelease(world.workspace, 'v1.1.0');
    const said = await world.say(['join'], cluster.variables, newer);
    expect([said.code, said.reason]).toEqual([0, 'the node is in the requested state']);
    expect(await world.version()).toBe('v1.1.0');
    const count = cluster.rancher.requests.filter(isRegistration).length;
    const older = await world.say(['join'], cluster.variables);
    expect([older.code, older.outcome]).toEqual([65, 'refused']);
    expect(cluster.rancher.requests.filter(isRegistration)).toHaveLength(count);
    const dirty = nodeRelease(world.workspace, 'v1.1.0-4-gabcdef-dirty');
    expect((await world.say(['join'], cluster.variables, dirty)).outcome).toBe('refused');
    const down = await world.say(['join', '--allow-downgrade'], cluster.variables);
    expect([down.code, await world.version()]).toEqual([0, 'v1.0.0']);
  });

  wherePossible(
    it,
    mayMount(),
    'installs on a full disk, since only root may mount',
  )('has the old state when its disk is full, and the new one once there is room', async () => {
    await using world = new NodeWorld();
    const PAGE = 4096;
    const mount = ['-t', 'tmpfs', '-o', `size=${64 * PAGE},mode=0755`, 'tmpfs', world.root];
    expect(spawnSync('/bin/mount', mount).status).toBe(0);
    try {
      await world.wins(['install', '--dry-run']);
      const filler = path.join(world.root, 'filler');
      for (const pages of [0, 2, 4, 8]) {
        rmSync(filler, { force: true });
        writeFileSync(filler, Buffer.alloc((statfsSync(world.root).bfree - pages) * PAGE));
        const before = world.snapshot();
        const { code } = await world.say(['install']);
        expect({ pages, isDone: code === 0 }).toEqual({ pages, isDone: false });
        rmSync(filler);
        // The next command undoes changes that the first could not undo on the full disk.
        await world.say(['uninstall']);
        const { filler: _gone, ...others } = before;
        expect({ pages, ...world.snapshot() }).toEqual({ pages, ...others });
      }
      expect((await world.say(['install'])).outcome).toBe('installed');
    } finally {
      await world.say(['uninstall']);
      spawnSync('/bin/umount', ['-l', world.root]);
    }
  });
});

function isRegistration({ path: asked }: { readonly path: string }): boolean {
  return asked === '/v3/connect/agent';
}
