/** @needs releases */
// The first installation: there is no service, and afterwards there is one that serves, or none.
// upgrade-install.windows-long-spec.ts has the helper die at each act.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FirstInstallation } from './first-installation.js';
import { release } from './windows-upgrade-world.js';

const NOTHING = [false, false, []];

describe('a first installation', () => {
  let node: FirstInstallation;
  before(() => {
    node = new FirstInstallation();
  });
  after(() => node[Symbol.asyncDispose]());

  it('is refused without the arguments of the service', async () => {
    const { code, outcome, reason } = await node.world.up('--path', release('v1.1.0'));
    assert.deepEqual([code, outcome], [65, 'refused']);
    assert.match(reason, /there is no service; --wins-args says/);
    assert.deepEqual(node.found, NOTHING);
  });

  it('is refused with arguments that register', async () => {
    const { code, reason } = await node.world.up(
      ...['--path', release('v1.1.0'), '--wins-args', 'srv app run --register'],
    );
    assert.equal(code, 65);
    assert.match(reason, /found --register/);
    assert.deepEqual(node.found, NOTHING);
  });

  for (const [name, found] of [
    ['crashes', /cannot start the service|has ended/],
    ['lies', /found release "v9\.9\.9"/],
  ] as const) {
    it(`leaves no service and no program when what is installed ${name}`, async () => {
      const [, , ...more] = node.args;
      const { code, outcome, reason } = await node.world.up('--path', release(name), ...more);
      assert.deepEqual([code, outcome], [1, 'rolledBack'], reason);
      assert.match(reason, found);
      assert.match(reason, /there is no service, as before$/);
      assert.deepEqual(node.found, NOTHING);
    });
  }

  it('makes a service that serves, and that is started with the node', async () => {
    const { code, outcome, reason } = await node.world.up(...node.args);
    assert.deepEqual([code, outcome], [0, 'upgraded'], reason);
    await node.assertInstalled();
    assert.deepEqual(node.world.leftovers, []);
    await node.world.powerFails();
    await node.assertInstalled();
    const number = node.world.effects.indexOf('write service') + 1;
    assert.notEqual(number, 0);
    await node.uninstall();

    // Dead before there is a service: whoever runs it again. Dead once there is one: the daemon that Windows starts.
    await node.dieAt(number, 'before');
    await node.assertInstalledAgain();
    await node.uninstall();
    await node.dieAt(number, 'after');
    await node.world.powerFails();
    await node.assertInstalled();
  });
});
