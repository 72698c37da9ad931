import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { processesWith, until } from '../testing/process-table.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import { sha256 } from '../testing/upgrade/upgrade-world.js';
import {
  begun,
  logged,
  offer,
  served,
  settled,
  states,
  watchingNode,
} from '../testing/upgrade/watching-node.js';

/** A release that checks the config only after the file `gate` exists. */
const HELD_UP = (version: string, gate: string) =>
  singleFile(version).replace(
    '\n',
    `
const moment = new Int32Array(new SharedArrayBuffer(4));
const { existsSync } = require('node:fs');
while (process.argv[3] === 'config' && !existsSync(${JSON.stringify(gate)})) Atomics.wait(moment, 0, 0, 20);
`,
  );

// Each test has its own node and waits for the next check of the file, so run them in parallel.
describe('a daemon that watches a file', () => {
  it.concurrent('does not take a file that is still being written', async () => {
    const { world, watched } = await watchingNode();
    await using _world = world;
    const program = singleFile('v1.1.0');
    const part = Math.ceil(program.length / 5);
    for (let at = 0; at < program.length; at += part) {
      const known = states(world).length;
      writeFileSync(watched, program.slice(at, at + part), { flag: 'a' });
      await until(() => states(world).length > known);
    }
    expect(states(world).slice(0, 5)).toEqual(Array(5).fill('changing'));
    await served(world, 'v1.1.0');
    expect(world.installed).toBe(sha256(program));
    expect(begun(world)).toHaveLength(1);
  });

  it.concurrent('refuses an older release, once, and goes on', async () => {
    const { world } = await watchingNode();
    await using _world = world;
    offer(world, singleFile('v0.9.0'));
    const { ended, reason } = await logged(world, 'the upgrade to the watched file has ended');
    expect([ended, reason]).toEqual(['refused', expect.stringContaining('is older than')]);
    await settled(world);
    expect(begun(world)).toHaveLength(1);
    expect(world.supervisor.started).toHaveLength(1);
    // The helper cleans up and exits after it has reported its result.
    await until(() => world.leftovers.length === 0);
  });

  it.concurrent(
    'tries again when its helper was killed, and the service was restarted',
    async () => {
      const { world } = await watchingNode();
      await using _world = world;
      const journal = `${world.folder}/journal.json`;
      const gate = world.workspace.path('gate');
      offer(world, HELD_UP('v1.1.0', gate));
      // Staging cannot complete without the gate, so the helper is killed during staging.
      await until(() => existsSync(journal));
      for (const pid of processesWith('--apart', world.definition)) process.kill(pid, 'SIGKILL');
      writeFileSync(gate, '');
      await world.supervisor.powerCycle();
      await served(world, 'v1.1.0');
      expect(world.result).toMatchObject({ attempt: 2 });
    },
  );

  it.concurrent('does not try a fourth time what was interrupted three times', async () => {
    const { world } = await watchingNode();
    await using _world = world;
    const [id, reason] = ['x', 'the power failed'];
    const to = { sha256: sha256(singleFile('v1.1.0')) };
    mkdirSync(world.folder, { mode: 0o700 });
    const result = JSON.stringify({
      ...{ id, outcome: 'rolledBack', reason, to, interrupted: true, attempt: 3 },
    });
    writeFileSync(`${world.folder}/result.json`, result);
    offer(world, singleFile('v1.1.0'));
    const said = await logged(world, 'the watched file was tried before, and is not tried again');
    expect(said['reason']).toBe(reason);
    expect(begun(world)).toEqual([]);
  });
});
