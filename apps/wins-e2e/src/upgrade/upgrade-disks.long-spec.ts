import { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';

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
