// Each test kills a real helper process at one step. The model in libs/service-upgrade covers all steps.
import { CrashedUpgrade, OLD } from '../testing/upgrade/crashed-upgrade.js';
import { sha256 } from '../testing/upgrade/upgrade-world.js';

const STEP = 'move new program';

describe('a helper that is killed when it puts the new program in place', () => {
  it.each(['before', 'after'] as const)('upgrades when it is run again: %s', async (moment) => {
    const upgrade = new CrashedUpgrade();
    await using world = await upgrade.interrupted(STEP, moment);
    const { code, stderr } = await upgrade.again(world);
    if (code !== 0) throw new Error(stderr);
    expect(await world.rest()).toBe('v1.1.0');
    expect(world.installed).toBe(sha256(upgrade.next));
  });

  it.each(['before', 'after'] as const)(
    'leaves a release that is whole and serves when the node is restarted: %s',
    async (moment) => {
      const upgrade = new CrashedUpgrade();
      await using world = await upgrade.interrupted(STEP, moment);
      await world.supervisor.powerCycle();
      const version = await world.rest();
      expect(world.installed).toBe(sha256(version === 'v1.0.0' ? OLD : upgrade.next));
    },
  );
});

describe('a helper that is killed when it has started an unhealthy release', () => {
  it('leaves the old release when the node is restarted', async () => {
    const upgrade = new CrashedUpgrade('lies about its version');
    await using world = await upgrade.interrupted('start service', 'after');
    await world.supervisor.powerCycle();
    expect(await world.rest()).toBe('v1.0.0');
    expect(world.installed).toBe(sha256(OLD));
  });
});
