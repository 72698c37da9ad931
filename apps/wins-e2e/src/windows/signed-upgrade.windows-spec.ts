/** @needs releases signed */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from '../testing/workspace.js';
import { release, WindowsUpgradeWorld } from './windows-upgrade-world.js';

const SIGNED = path.join(ROOT, 'dist', 'signed', 'signed.exe');
const signedBy = readFileSync(path.join(ROOT, 'dist', 'signed', 'signed-by'), 'utf8');

describe('a node that wants signed programs', () => {
  it('takes the one that is signed, from who is there and from a container, and no other', async () => {
    await using world = WindowsUpgradeWorld.registered();
    const config = JSON.parse(readFileSync(world.config, 'utf8')) as object;
    writeFileSync(world.config, JSON.stringify({ ...config, upgrade: { signedBy } }));
    await world.services.start(world.service);

    const unsigned = await world.up('--path', release('v1.1.0'));
    assert.deepEqual([unsigned.code, unsigned.outcome], [65, 'refused'], unsigned.reason);
    assert.match(
      unsigned.reason,
      /not trusted: it has no signature of its own .*; wanted a signature by/,
    );

    const changed = world.workspace.path('changed.exe');
    const bytes = readFileSync(SIGNED);
    bytes.write('T', bytes.lastIndexOf('the offered program is not trusted'));
    writeFileSync(changed, bytes);
    const broken = await world.up('--path', changed);
    assert.deepEqual([broken.code, broken.outcome], [65, 'refused'], broken.reason);
    assert.match(broken.reason, /the program was changed after it was signed/);

    const container = await world.clientUpgrade('v1.1.0');
    assert.notEqual(container.code, 0);
    assert.match(container.stderr, /cannot run "[^"]*wins-upgrade\.exe": it has no signature/);

    const offered = world.workspace.path('offered.exe');
    copyFileSync(SIGNED, offered);
    const taken = await world.up('--path', offered);
    assert.deepEqual([taken.code, taken.outcome], [0, 'upgraded'], taken.reason);
    assert.ok(readFileSync(world.target).equals(readFileSync(SIGNED)));
  });
});
