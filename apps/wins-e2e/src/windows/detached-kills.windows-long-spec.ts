import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { DetachedNodeOnWindows } from './detached-node-on-windows.js';
import { isAlive, until } from './windows-workspace.js';

describe('a detached run on Windows', () => {
  const node = new DetachedNodeOnWindows();
  before(() => node.serve());
  beforeEach(() => node.serve());
  after(() => node[Symbol.asyncDispose]());

  it('that ends while there is no daemon is known to the next one, with its exit code', async () => {
    const { name, pid } = await node.detach();
    await node.killDaemon();
    node.endCounter();
    await until(() => !isAlive(pid) && node.keepers().length === 0);
    await node.serve();
    assert.equal((await node.prc('wait', name)).code, 7);
  });

  it('ends with its keeper, which is told, and the next one gets another keeper', async () => {
    const { name, pid } = await node.detach();
    process.kill(node.keepers()[0]?.pid ?? 0, 'SIGKILL');
    const { code, stderr } = await node.prc('wait', name);
    assert.deepEqual([code, stderr], [137, `wins: ${name} was stopped: hostFailed\n`]);
    await until(() => !isAlive(pid));
    const next = await node.detach();
    node.endCounter();
    assert.equal((await node.prc('wait', next.name)).code, 7);
  });

  it('is ended by the next daemon when its keeper died while there was none', async () => {
    const { name, pid } = await node.detach();
    const keeper = node.keepers()[0]?.pid ?? 0;
    await node.killDaemon();
    process.kill(keeper, 'SIGKILL');
    await until(() => !isAlive(pid));
    await node.serve();
    assert.equal((await node.prc('wait', name)).code, 137);
  });
});
