/**
 * Kills the helper at one of its steps, and then either runs it again or restarts the node. The old or the new release must serve. The tests try a
 * sample of the steps.
 *
 * Nothing changes between two steps, so a death before a step equals a death after the previous step. Each test tries only one
 * kind of death: before a step or after a step. The model in libs/service-upgrade tries both kinds for every step.
 */
import { sampleOf } from '../testing/sample.js';
import { CrashedUpgrade, OLD } from '../testing/upgrade/crashed-upgrade.js';
import { forEachOf, sha256 } from '../testing/upgrade/upgrade-world.js';

describe('a helper that dies at any of its steps', () => {
  it('upgrades when it is run again', async () => {
    const upgrade = new CrashedUpgrade();
    await forEachOf(sampleOf(await upgrade.steps(), 4), async (step) => {
      await using world = await upgrade.interrupted(step, 'after');
      const { code, stderr } = await upgrade.again(world);
      if (code !== 0) throw new Error(stderr);
      expect(await world.rest()).toBe('v1.1.0');
      expect(world.installed).toBe(sha256(upgrade.next));
    });
  });

  it('leaves the old or the new release, whole and serving, when the node is restarted', async () => {
    const upgrade = new CrashedUpgrade();
    const ends = new Set<string>();
    await forEachOf(sampleOf(await upgrade.steps(), 4), async (step) => {
      await using world = await upgrade.interrupted(step, 'before');
      await world.supervisor.powerCycle();
      const version = await world.rest();
      ends.add(version);
      expect(world.installed).toBe(sha256(version === 'v1.0.0' ? OLD : upgrade.next));
    });
    expect([...ends].sort()).toEqual(['v1.0.0', 'v1.1.0']);
  });
});

describe('a helper that dies at any of its steps with an unhealthy release', () => {
  it('leaves the old release when the node is restarted', async () => {
    const upgrade = new CrashedUpgrade('lies about its version');
    await forEachOf(sampleOf(await upgrade.steps(), 4), async (step) => {
      await using world = await upgrade.interrupted(step, 'after');
      await world.supervisor.powerCycle();
      expect(await world.rest()).toBe('v1.0.0');
      expect(world.installed).toBe(sha256(OLD));
    });
  });

  it('leaves the old release when it is run again', async () => {
    const upgrade = new CrashedUpgrade('crashes');
    await forEachOf(sampleOf(await upgrade.steps(), 4), async (step) => {
      await using world = await upgrade.interrupted(step, 'before');
      const { code, stderr } = await upgrade.again(world);
      if (code !== 1) throw new Error(`ended with ${code}: ${stderr}`);
      expect(await world.rest()).toBe('v1.0.0');
      expect(world.installed).toBe(sha256(OLD));
    });
  });
});
