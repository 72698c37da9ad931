/** @needs releases */
// Upgrades services with every spelling of the program that a service manager accepts.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { assertUpgraded, registerLine, TO_NEXT, WINDOWS } from './service-lines.js';
import { digest, release, WindowsUpgradeWorld } from './windows-upgrade-world.js';

describe('a service that names its program', () => {
  const arrange = (file: string) => WindowsUpgradeWorld.empty(file);
  const id = String(process.pid);

  for (const [how, file, isQuoted] of [
    ['quoted, with blanks', 'wins.exe', true],
    ['not quoted, with blanks', 'wins.exe', false],
    ['not quoted, with blanks in its own name', 'the wins', false],
    ['not quoted, without blanks', path.join(WINDOWS, `wins-e2e-${id}`, 'wins.exe'), false],
    ['with Unicode', 'Grüße 配置/wins’.exe', true],
  ] as const) {
    it(`${how}, is upgraded, and names it quoted then`, async () => {
      await using world = arrange(file.endsWith('.exe') ? file : `${file}.exe`);
      const { target, config } = world;
      const program = isQuoted ? `"${target}"` : target;
      await registerLine(world, `${program} srv app run --config "${config}"`);
      await world.services.start(world.service);
      const { code, outcome, reason } = await world.up(...TO_NEXT);
      assert.deepEqual([code, outcome], [0, 'upgraded'], reason);
      await assertUpgraded(world, `"${target}" srv app run --config "${config}"`);
      if (path.dirname(target).endsWith(id)) {
        await world.services.stop(world.service);
        // Retries, because Windows locks the program until its process ends, a moment after the service counts as stopped.
        rmSync(path.dirname(target), {
          recursive: true,
          force: true,
          maxRetries: 20,
          retryDelay: 100,
        });
      }
    });
  }

  it('by a variable of the environment is refused, and not touched', async () => {
    await using world = arrange('wins.exe');
    const line = `"%ProgramFiles%\\${path.basename(world.workspace.folder)}\\wins.exe" srv app run`;
    await registerLine(world, line);
    const { code, reason } = await world.up(...TO_NEXT);
    assert.equal(code, 65, reason);
    assert.match(reason, /the service names %ProgramFiles%.*; wanted an absolute path/);
    assert.equal(world.commandLine, line);
    assert.equal(digest('sha1', world.target), digest('sha1', release('v1.0.0')));
  });
});
