/** @needs releases deadly */
// Kills the update of a node at some of its changes, or at every change with `--all`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DeadlyNodeOnWindows } from './deadly-node-on-windows.js';
import { deathsIn } from './deaths-in.js';

describe('an update of a node of Windows that dies while it changes something', () => {
  let node: DeadlyNodeOnWindows;
  before(async () => {
    node = await DeadlyNodeOnWindows.start();
  });
  after(() => node[Symbol.asyncDispose]());

  it('is finished or undone by the next command: the old or the new release serves, and the update can be repeated', async () => {
    const changes = await node.changesOfUpdate();
    assert.ok(changes.length > 40, changes.join());
    for (const change of deathsIn(changes, 2)) await node.updateAt(change);
  });
});
