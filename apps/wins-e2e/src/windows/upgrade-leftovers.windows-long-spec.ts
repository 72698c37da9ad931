/** @needs releases */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { startProgram } from '../testing/built-program.js';
import { release, WindowsUpgradeWorld } from './windows-upgrade-world.js';
import { until } from './windows-workspace.js';

const NEXT = 'v1.1.0';

describe('a process that upgrades from the path of a verified copy, on Windows', () => {
  it('is not ended by the daemon on trial', async () => {
    await using world = await WindowsUpgradeWorld.running();
    const copy = world.workspace.path('rancher-wins-wins-upgrade.exe');
    copyFileSync(release(NEXT), copy);
    const words = ['up', '--json', '--service', world.service, '--wait', '30s'];
    const { code, stdout, stderr } = await startProgram(copy, words, process.env).outcome;
    assert.deepEqual([code, stderr], [0, ''], stdout.toString());
    assert.equal((JSON.parse(stdout.toString()) as { outcome: string }).outcome, 'upgraded');
    assert.equal(await world.rest(), NEXT);
    await until(() => world.leftovers.every((name) => name === path.basename(copy)));
    await world.services.stop(world.service, { timeoutMs: 30_000 });
    assert.equal(await world.rest(), NEXT);
    assert.equal(existsSync(path.join(world.folder, 'journal.json')), false);
  });
});
