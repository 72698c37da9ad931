/** @needs releases */
// One act, killed for real; upgrade-crash.windows-long-spec.ts takes each of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dieAtEachAct } from './upgrade-crash-loop.js';

const ACT = 'move new program';

describe('a helper that is killed when it puts the new program in place on Windows', () => {
  it('upgrades when it is run again', async () => {
    await dieAtEachAct({
      offered: (installed) => (installed === 'v1.0.0' ? 'v1.1.0' : 'v1.0.0'),
      moment: 'after',
      only: ACT,
      recover: async ({ world, offered: wanted, args }) => {
        const { code, reason } = await world.up(...args);
        assert.equal(code, 0, reason);
        assert.equal(await world.rest(), wanted);
        assert.deepEqual(world.leftovers, []);
      },
    });
  });
});

describe('a helper that is killed when it has started a release that is not well', () => {
  it('leaves the old release when the node is restarted', async () => {
    await dieAtEachAct({
      offered: () => 'lies',
      moment: 'after',
      only: 'start service',
      recover: async ({ world }) => {
        await world.powerFails();
        assert.equal(await world.rest(), 'v1.0.0');
      },
    });
  });
});
