/** @needs releases */
// Installs the service on a node without one. A failed installation leaves nothing behind. If the helper dies, its next run or the daemon finishes
// the installation.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sampleOf } from '../testing/sample.js';
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
    assert.match(reason, /there is no service\. Pass its arguments with --wins-args/);
    assert.deepEqual(node.found, NOTHING);
  });

  it('is refused with arguments that register', async () => {
    const { code, reason } = await node.world.up(
      ...['--path', release('v1.1.0'), '--wins-args', 'srv app run --register'],
    );
    assert.equal(code, 65);
    assert.match(reason, /omit --register/);
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
    await node.uninstall();
  });
});

describe('a first installation whose helper dies at any of its steps', () => {
  it('is finished by who runs it again', async () => {
    await using node = new FirstInstallation();
    for (const { number } of sampleOf(await node.steps(), 4)) {
      await node.dieAt(number, 'after');
      await node.assertInstalledAgain();
      await node.uninstall();
    }
  });

  it('is finished by the daemon once there is one', async () => {
    await using node = new FirstInstallation();
    const steps = await node.steps();
    // Until the service is registered, no daemon can start and finish the installation.
    const registering = steps.findIndex(({ step }) => step === 'write service');
    for (const { number } of sampleOf(steps.slice(registering + 1), 3)) {
      await node.dieAt(number, 'before');
      await node.world.powerFails();
      await node.assertInstalled();
      await node.uninstall();
    }
  });
});
