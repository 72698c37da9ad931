/** @needs releases */
// Upgrades services with every spelling of arguments that a service manager accepts.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { describe, it } from 'node:test';
import { assertUpgraded, registerLine, TO_NEXT } from './service-lines.js';
import { WindowsUpgradeWorld } from './windows-upgrade-world.js';

describe('the arguments of a service', () => {
  const oddConfig = (world: WindowsUpgradeWorld) => {
    const file = world.workspace.path('Ünï 配置 & ^% folder', 'my config');
    cpSync(world.config, file, { recursive: true });
    return file;
  };

  it('stay word for word, quotes, backslashes and Unicode too', async () => {
    await using world = WindowsUpgradeWorld.empty();
    const config = oddConfig(world);
    const odd = String.raw`--depends-on "say \"hi\" \\" --debug`;
    const line = `"${world.target}" srv app run --config "${config}" ${odd}`;
    await registerLine(world, line);
    await world.services.start(world.service);
    const { code, reason } = await world.up(...TO_NEXT);
    assert.equal(code, 0, reason);
    await assertUpgraded(world, line);
  });

  it('are replaced by those of --wins-args, blanks and quotes and all; the others stay', async () => {
    await using world = await WindowsUpgradeWorld.running();
    const config = oddConfig(world);
    world.workspace.write('config file', 'this: [is no config any more');
    const winsArgs = `--config="${config}" --depends-on "a \\"b\\" c" -debug`;
    const { code, reason } = await world.up(...TO_NEXT, '--wins-args', winsArgs);
    assert.equal(code, 0, reason);
    const odd = String.raw`--depends-on "a \"b\" c" --debug`;
    await assertUpgraded(world, `"${world.target}" srv app run --config "${config}" ${odd}`);
  });
});
