/** @needs releases */
// The first installation: there is no service, and afterwards there is one that serves, or none.
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startProgram } from '../testing/built-program.js';
import { digest, release, WindowsUpgradeWorld } from './windows-upgrade-world.js';

const NAME = 'rancher-wins';
const TARGET = path.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'wins.exe');
/** What cannot be told from the act before. */
const NO_ACT = /^sync /;
/** ERROR_INTERNAL_ERROR, which Windows has no reason to answer. */
const WINE_HICCUP = /StartServiceW failed with error 1359; there is no service, as before$/;

describe('a first installation', () => {
  const world = WindowsUpgradeWorld.empty(TARGET, NAME);
  const args = ['--path', release('v1.1.0'), '--wins-args', `--config "${world.config}"`];
  const isThere = () => {
    try {
      world.services.status(NAME);
      return true;
    } catch {
      return false;
    }
  };
  const uninstall = async () => {
    if (isThere()) {
      const program = existsSync(TARGET) ? TARGET : release('v1.1.0');
      const words = ['srv', 'app', 'run', '--unregister'];
      const { code, stderr } = await startProgram(program, words, process.env).outcome;
      assert.equal(code, 0, stderr);
    }
    rmSync(TARGET, { force: true, maxRetries: 20, retryDelay: 100 });
  };
  const assertInstalled = async () => {
    assert.equal(await world.rest(), 'v1.1.0');
    const { commandLine, startType } = world.services.config(NAME);
    assert.equal(commandLine, `"${TARGET}" srv app run --config "${world.config}"`);
    assert.equal(startType, 'automatic');
    assert.equal(digest('sha1', TARGET), digest('sha1', release('v1.1.0')));
  };

  before(() => {
    // A real node may run the real service: that one is not for tests.
    assert.equal(isThere() || existsSync(TARGET), false);
  });
  after(async () => {
    await uninstall();
    rmSync(world.folder, { recursive: true, force: true });
    await world[Symbol.asyncDispose]();
  });

  it('is refused without the arguments of the service', async () => {
    const { code, outcome, reason } = await world.up('--path', release('v1.1.0'));
    assert.deepEqual([code, outcome], [65, 'refused']);
    assert.match(reason, /there is no service; --wins-args says/);
    assert.deepEqual([isThere(), existsSync(TARGET), world.leftovers], [false, false, []]);
  });

  it('is refused with arguments that register', async () => {
    const { code, reason } = await world.up(
      ...['--path', release('v1.1.0'), '--wins-args', 'srv app run --register'],
    );
    assert.equal(code, 65);
    assert.match(reason, /found --register/);
    assert.deepEqual([isThere(), existsSync(TARGET), world.leftovers], [false, false, []]);
  });

  for (const [name, found] of [
    ['crashes', /cannot start the service|has ended/],
    ['lies', /found release "v9\.9\.9"/],
  ] as const) {
    it(`leaves no service and no program when what is installed ${name}`, async () => {
      const [, , ...more] = args;
      const { code, outcome, reason } = await world.up('--path', release(name), ...more);
      assert.deepEqual([code, outcome], [1, 'rolledBack'], reason);
      assert.match(reason, found);
      assert.match(reason, /there is no service, as before$/);
      assert.deepEqual([isThere(), existsSync(TARGET), world.leftovers], [false, false, []]);
    });
  }

  it('makes a service that serves, and that is started with the node', async () => {
    const { code, outcome, reason } = await world.up(...args);
    assert.deepEqual([code, outcome], [0, 'upgraded'], reason);
    await assertInstalled();
    assert.deepEqual(world.leftovers, []);
    await world.powerFails();
    await assertInstalled();
    await uninstall();
  });

  it(
    'is finished after a death at any act, by who runs it again',
    { timeout: 300_000 },
    async () => {
      await world.up(...args);
      const acts = world.effects;
      await uninstall();
      const deaths = acts.flatMap((act, at) => (NO_ACT.test(act) ? [] : [[at + 1, act] as const]));
      for (const [number, act] of deaths) {
        const { stdout } = await world.startUp(args, { [number]: 'after' }).outcome;
        assert.deepEqual([world.effects.length, stdout.toString()], [number, ''], act);
        let again = await world.up(...args);
        // Wine's service manager sometimes cannot start what another process had just asked it about; that is taken back, too.
        if (WINE_HICCUP.test(again.reason)) again = await world.up(...args);
        assert.equal(again.code, 0, `${act}: ${again.reason}`);
        await assertInstalled();
        assert.deepEqual(world.leftovers, [], act);
        await uninstall();
      }
    },
  );

  it(
    'is finished after a death at any act, by the daemon once there is one',
    { timeout: 300_000 },
    async () => {
      await world.up(...args);
      const acts = world.effects;
      await uninstall();
      // Before it is registered there is nothing that could be started.
      const from = acts.indexOf('write service') + 2;
      for (const [at, act] of acts.entries()) {
        const number = at + 1;
        if (number < from || NO_ACT.test(act)) continue;
        await world.startUp(args, { [number]: 'before' }).outcome;
        assert.equal(world.effects.length, number, act);
        await world.powerFails();
        await assertInstalled();
        await uninstall();
      }
    },
  );
});
