/** @needs releases */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dieAtSteps } from './upgrade-crash-loop.js';

describe('a helper that dies at any of its steps with an unhealthy release', () => {
  it('leaves the old release when it is run again', async () => {
    await dieAtSteps({
      offered: () => 'crashes',
      moment: 'before',
      recover: async ({ world, args }) => {
        const { code, outcome, reason } = await world.up(...args);
        assert.deepEqual([code, outcome], [1, 'rolledBack'], reason);
        assert.equal(await world.rest(), 'v1.0.0');
        assert.deepEqual(world.leftovers, []);
      },
    });
  });

  it('leaves the old release when the node is restarted', async () => {
    await dieAtSteps({
      offered: () => 'lies',
      moment: 'after',
      recover: async ({ world }) => {
        await world.powerFails();
        assert.equal(await world.rest(), 'v1.0.0');
      },
    });
  });
});
