/** Tests of upgrades on a disk that is full, nearly full, or read-only. Most tests mount a separate disk. */
import { mayMount } from '@wins/base/testing';
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fakeRelease } from '../testing/upgrade/fake-release.js';
import { sha256, UpgradeWorld } from '../testing/upgrade/upgrade-world.js';
import { wherePossible } from '../testing/where-possible.js';

const itOnItsOwnDisk = wherePossible(
  it,
  mayMount(),
  'upgrades on full and read-only disks, since only root may mount',
);

/** The file system allocates space in pages. */
const PAGE_BYTES = 4096;
const PAGES = 16;

/** A node whose program is on a small disk. */
class SmallDisk implements AsyncDisposable {
  readonly path: string;
  readonly #filler: string;

  private constructor(readonly world: UpgradeWorld) {
    this.path = path.dirname(world.target);
    this.#filler = path.join(this.path, 'filler');
    const options = `size=${PAGES * PAGE_BYTES},mode=0755`;
    this.#mount('-t', 'tmpfs', '-o', options, 'tmpfs');
  }

  static async make(): Promise<SmallDisk> {
    const disk = new SmallDisk(await UpgradeWorld.empty('disk/wins'));
    const { world } = disk;
    writeFileSync(world.target, fakeRelease('v1.0.0'), { mode: 0o755 });
    world.define(`"${world.target}" srv app run --config "${world.config}"`);
    world.supervisor.start();
    await world.rest();
    return disk;
  }

  leave(pages: number): void {
    rmSync(this.#filler, { force: true });
    writeFileSync(this.#filler, Buffer.alloc((statfsSync(this.path).bfree - pages) * PAGE_BYTES));
  }

  makeReadOnly(): void {
    this.#mount('-o', 'remount,ro');
  }

  #mount(...options: string[]): void {
    const { status, stderr } = spawnSync('/bin/mount', [...options, this.path]);
    if (status !== 0) throw new Error(`this test must be able to mount: ${String(stderr)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.supervisor.stop(0);
    spawnSync('/bin/umount', ['-l', this.path]);
    await this.world[Symbol.asyncDispose]();
  }
}

describe('an upgrade on a disk that is nearly full', () => {
  itOnItsOwnDisk(
    'is done or leaves all as it was, whatever no longer fits on the disk',
    async () => {
      const codes = new Set<number | null>();
      for (let pages = 0; pages <= 6; pages += 1) {
        await using disk = await SmallDisk.make();
        const { world } = disk;
        disk.leave(pages);
        const { code, stderr } = await world.up(['--path', world.release('v1.1.0')]);
        codes.add(code);
        if (code !== 0) expect(stderr).toContain('the disk is full');
        expect(await world.rest()).toBe(code === 0 ? 'v1.1.0' : 'v1.0.0');
        expect(world.supervisor.command[0]).toBe(world.target);
        expect([pages, world.leftovers]).toEqual([pages, []]);

        disk.leave(PAGES / 2);
        expect((await world.up(['--path', world.release('v1.2.0')])).code).toBe(0);
        expect(await world.rest()).toBe('v1.2.0');
      }
      expect([...codes]).toEqual(expect.arrayContaining([0, 70]));
    },
  );
});

describe('an upgrade on a disk that fills up while the service is stopped', () => {
  it('lets the old release serve again, though the journal cannot say so', async () => {
    await using dry = await UpgradeWorld.running();
    await dry.up(['--path', dry.release('v1.1.0')]);
    const [, , trial = 0] = dry.effects.flatMap((effect, at) =>
      effect === 'write journal.json' ? [at + 1] : [],
    );

    await using world = await UpgradeWorld.running();
    const faults = { [trial]: 'ENOSPC', [trial + 1]: 'ENOSPC' } as const;
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0')], faults);
    expect(world.effects.slice(trial - 1, trial + 1)).toEqual([
      'write journal.json',
      'write journal.json',
    ]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('the disk is full')]);
    expect(await world.rest()).toBe('v1.0.0');
    expect(world.leftovers).toEqual([]);
  });
});

describe('an upgrade on a disk that cannot be written', () => {
  itOnItsOwnDisk('says so, and the service is not touched', async () => {
    await using disk = await SmallDisk.make();
    const { world } = disk;
    disk.makeReadOnly();
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0')]);
    expect([code, stderr]).toEqual([70, expect.stringContaining('the file system is read-only')]);
    expect(world.supervisor.started).toHaveLength(1);
    expect(world.installed).toBe(sha256(fakeRelease('v1.0.0')));
    expect(readdirSync(disk.path)).toEqual(['wins']);
  });

  itOnItsOwnDisk('says so too when it became so after an upgrade', async () => {
    await using disk = await SmallDisk.make();
    const { world } = disk;
    expect((await world.up(['--path', world.release('v1.1.0')])).code).toBe(0);
    disk.makeReadOnly();
    const { code, stderr } = await world.up(['--path', world.release('v1.2.0')]);
    expect([code, stderr]).toEqual([70, expect.stringContaining('the file system is read-only')]);
    expect(await world.rest()).toBe('v1.1.0');
    expect(world.result.outcome).toBe('upgraded');
    expect(world.leftovers).toEqual([]);
  });
});
