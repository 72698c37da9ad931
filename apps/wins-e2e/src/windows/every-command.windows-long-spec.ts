/** @needs package */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EVERY_COMMAND } from '../testing/every-command.js';
import { tryEveryCommand } from './try-every-command.js';

tryEveryCommand('as the service', ({ upgrader, start, commands }) => {
  it('has no command that is not tried here', async () => {
    const leaves = (await commands()).filter(({ below }) => below.length === 0);
    assert.deepEqual(leaves.map(({ name }) => name).sort(), Object.keys(EVERY_COMMAND).sort());
  });

  it('is an upgrade helper by another name: it says what there is, and upgrades when told up', async () => {
    const bare = await start(upgrader).outcome;
    assert.deepEqual([bare.code, bare.stderr], [0, '']);
    assert.match(String(bare.stdout), /^ {2}wins up +Upgrade the service/m);
    const told = await start(upgrader, 'up').outcome;
    assert.deepEqual([told.code, String(told.stdout)], [65, '']);
    assert.match(told.stderr, /^wins: refused: there is no service[^\n]*\n$/);
  });
});
