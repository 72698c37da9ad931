/** @needs releases */
// Kills the upgrade helper before or after sampled steps of an upgrade.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dieAtSteps } from './upgrade-crash-loop.js';

const offered = (installed: string): string => (installed === 'v1.0.0' ? 'v1.1.0' : 'v1.0.0');

describe('a helper that dies at any of its steps on Windows', () => {
  it('upgrades when it is run again', async () => {
    await dieAtSteps({
      offered,
      moment: 'after',
      recover: async ({ world, offered: wanted, args }) => {
        const { code, reason } = await world.up(...args);
        assert.equal(code, 0, reason);
        assert.equal(await world.rest(), wanted);
        assert.deepEqual(world.leftovers, []);
      },
    });
  });

  it('leaves the old or the new release, whole and serving, when the node is restarted', async () => {
    const ends = new Set<string>();
    await dieAtSteps({
      offered,
      moment: 'before',
      recover: async ({ world, installed, offered: wanted }) => {
        await world.powerFails();
        const version = await world.rest();
        assert.ok([installed, wanted].includes(version), version);
        ends.add(version === installed ? 'old' : 'new');
      },
    });
    assert.deepEqual([...ends].sort(), ['new', 'old']);
  });
});
