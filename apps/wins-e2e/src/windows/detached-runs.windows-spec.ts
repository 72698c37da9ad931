import { ADMINISTRATORS_AND_SYSTEM, grantsTheSame, parseSecurityDescriptor } from '@wins/base';
import { pipeAccess } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DetachedNodeOnWindows } from './detached-node-on-windows.js';
import { isAlive, until } from './windows-workspace.js';

describe('a detached run on Windows', () => {
  const node = new DetachedNodeOnWindows();
  before(() => node.serve());
  after(() => node[Symbol.asyncDispose]());

  it('continues while the daemon is killed, is adopted, and loses or repeats no byte of output', async () => {
    const { name, pid } = await node.detach();
    const follower = node.follow('logs', '-f', name);
    await follower.printed('line 20\n');
    await node.killDaemon();
    assert.ok(isAlive(pid));
    await node.serve();
    // Only SYSTEM and administrators may open the socket.
    const access = pipeAccess(`\\\\.\\pipe\\${node.keepers()[0]?.socket}`);
    const [found, wanted] = [access, ADMINISTRATORS_AND_SYSTEM].map(parseSecurityDescriptor);
    assert.ok(found !== undefined && wanted !== undefined && grantsTheSame(found, wanted), access);
    node.endCounter();
    const [{ stdout }, waited] = await Promise.all([follower.outcome, node.prc('wait', name)]);
    assert.equal(waited.code, 7);
    const text = stdout.toString();
    const lines = text.split('\n').slice(1, -1);
    assert.deepEqual(
      lines,
      lines.map((_, index) => `line ${index}`),
    );
    const rest = await node.prc('logs', name, '--offset', '7');
    assert.equal(rest.stdout.toString(), text.slice(7));
    assert.equal((await node.prc('rm', name)).code, 0);
    await until(() => node.keepers().length === 0);
  });

  it('is asked to end by its keeper, which has no console', async () => {
    const handled = `process.on('SIGBREAK', () => process.exit(3));
      setInterval(() => console.log('up'), 20);`;
    const words = ['--name', 'polite', '--path', node.polite, '--', '-e', handled];
    const started = await node.prc('run', '-d', ...words);
    assert.equal(started.code, 0, started.stderr);
    const attached = node.follow('attach', 'polite');
    await attached.printed('up');
    const [ended, removed] = await Promise.all([attached.outcome, node.prc('rm', 'polite')]);
    assert.deepEqual([ended.code, removed.code], [3, 0], ended.stderr);
  });
});
