/** @needs releases */
// The first installation, whose helper is killed at every single thing that it does.
import { describe, it } from 'node:test';
import { FirstInstallation } from './first-installation.js';

const TIMES = { timeout: 300_000 };

describe('a first installation whose helper dies at any of its acts', () => {
  it('is finished by who runs it again', TIMES, async () => {
    await using node = new FirstInstallation();
    for (const { number } of await node.acts()) {
      await node.dieAt(number, 'after');
      await node.assertInstalledAgain();
      await node.uninstall();
    }
  });

  it('is finished by the daemon once there is one', TIMES, async () => {
    await using node = new FirstInstallation();
    const acts = await node.acts();
    // Before it is registered there is nothing that could be started.
    const registering = acts.findIndex(({ act }) => act === 'write service');
    for (const { number } of acts.slice(registering + 1)) {
      await node.dieAt(number, 'before');
      await node.world.powerFails();
      await node.assertInstalled();
      await node.uninstall();
    }
  });
});
