/** @needs releases */
// Upgrades services with every spelling of program and arguments that a service manager accepts.
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { startProgram } from '../testing/built-program.js';
import { digest, release, WindowsUpgradeWorld } from './windows-upgrade-world.js';

const WINDOWS = process.env['SystemRoot'] ?? 'C:\\Windows';
const SC = path.join(WINDOWS, 'System32', 'sc.exe');
const toNext = ['--path', release('v1.1.0')];

/** Registers the service with exactly this command line. */
async function registerLine(world: WindowsUpgradeWorld, line: string): Promise<void> {
  copyFileSync(release('v1.0.0'), world.target);
  const words = ['create', world.service, 'binPath=', line];
  const { code, stdout } = await startProgram(SC, words, process.env).outcome;
  assert.equal(code, 0, stdout.toString());
  assert.equal(world.commandLine, line);
}

async function assertUpgraded(world: WindowsUpgradeWorld, line: string): Promise<void> {
  assert.equal(await world.rest(), 'v1.1.0');
  assert.equal(digest('sha1', world.target), digest('sha1', release('v1.1.0')));
  assert.equal(world.commandLine, line);
  assert.deepEqual(world.leftovers, []);
  // After a power failure, the service must start again with the new command line.
  await world.powerFails();
  assert.equal(await world.rest(), 'v1.1.0');
}

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
      const { code, outcome, reason } = await world.up(...toNext);
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
    const { code, reason } = await world.up(...toNext);
    assert.equal(code, 65, reason);
    assert.match(reason, /the service names %ProgramFiles%.*; wanted an absolute path/);
    assert.equal(world.commandLine, line);
    assert.equal(digest('sha1', world.target), digest('sha1', release('v1.0.0')));
  });
});

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
    const { code, reason } = await world.up(...toNext);
    assert.equal(code, 0, reason);
    await assertUpgraded(world, line);
  });

  it('are replaced by those of --wins-args, blanks and quotes and all; the others stay', async () => {
    await using world = await WindowsUpgradeWorld.running();
    const config = oddConfig(world);
    world.workspace.write('config file', 'this: [is no config any more');
    const winsArgs = `--config="${config}" --depends-on "a \\"b\\" c" -debug`;
    const { code, reason } = await world.up(...toNext, '--wins-args', winsArgs);
    assert.equal(code, 0, reason);
    const odd = String.raw`--depends-on "a \"b\" c" --debug`;
    await assertUpgraded(world, `"${world.target}" srv app run --config "${config}" ${odd}`);
  });
});
