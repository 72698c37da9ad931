/** @needs releases odd-releases */
// Installs the service on a node without one. A failed installation leaves nothing behind.
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
    await node.uninstall();
  });
});
