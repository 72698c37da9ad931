/** @needs deadly */
// Kills commands while they change a file, the registry or a service. Tests a sample of these changes, or all with `--all`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DeadlyNodeOnWindows } from './deadly-node-on-windows.js';
import { deathsIn } from './deaths-in.js';

describe('a command on a node of Windows that dies while it changes something', () => {
  let node: DeadlyNodeOnWindows;
  let changes: Awaited<ReturnType<DeadlyNodeOnWindows['changes']>>;
  before(async () => {
    node = await DeadlyNodeOnWindows.start();
    changes = await node.changes();
  });
  after(() => node[Symbol.asyncDispose]());

  it('is finished or undone by the next command, and then installs, serves and goes without a trace', async () => {
    assert.ok(changes.install.length > 100, changes.install.join());
    for (const change of deathsIn(changes.install, 4)) await node.installAt(change);
  });

  it('is finished by the next command, even if it was uninstalling its own program', async () => {
    assert.ok(changes.uninstall.length > 20, changes.uninstall.join());
    for (const change of deathsIn(changes.uninstall, 4)) await node.uninstallAt(change);
  });
});
