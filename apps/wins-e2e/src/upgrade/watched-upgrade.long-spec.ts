import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { runWins, startProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { standIn } from '../testing/packages/package-folder.js';
import { processesWith, until } from '../testing/process-table.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import { sha256, type UpgradeWorld } from '../testing/upgrade/upgrade-world.js';
import {
  begun,
  logged,
  logOf,
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

const UNWELL = (version: string) =>
  singleFile(version).replace('\n', "\nif (process.argv.includes('run')) process.exit(7);\n");

async function doctor(world: UpgradeWorld) {
  const environment = { ...world.workspace.environment, WINS_SERVICE: world.definition };
  const words = ['doctor', '--json', '--config', world.config];
  const { stdout } = await runWins(words, environment, standIn('wins.cjs'));
  const { findings } = JSON.parse(stdout.toString()) as {
    findings: { check: string; level: string; found: string }[];
  };
  return findings
    .filter(({ check }) => check === 'upgrade')
    .map(({ level, found }) => [level, found]);
}

// Each test has its own node and waits for the next check of the file, so run them in parallel.
describe('a daemon that watches a file', () => {
  it.concurrent('does not take a file that is still being written', async () => {
    const { world, watched } = await watchingNode();
    await using _world = world;
    // Another process writes, because these tests keep their own process busy for longer than the daemon waits between two checks.
    writeFileSync(watched, singleFile('v1.1.0'));
    // The loop ends by itself, in case this test does not come to its end.
    const append = `for _ in $(seq 3000); do echo >> "${watched}"; sleep 0.1; done`;
    const { child, outcome } = startProgram('/bin/sh', ['-c', append], process.env);
    await until(() => states(world).length >= 5);
    child.kill();
    await outcome;
    expect(states(world).slice(0, 5)).toEqual(Array(5).fill('changing'));
    await served(world, 'v1.1.0');
    expect(world.installed).toBe(sha256(readFileSync(watched)));
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

  it.concurrent(
    'is replaced by each release that is put there, and leaves nothing behind',
    async () => {
      const { world, watched } = await watchingNode();
      await using _world = world;
      for (const version of ['v1.1.0', 'v1.2.0']) {
        offer(world, singleFile(version));
        await served(world, version);
        expect(world.result).toMatchObject({ outcome: 'upgraded', to: { version } });
        expect(world.installed).toBe(sha256(readFileSync(watched)));
        expect(world.leftovers).toEqual([]);
      }
      // A file with the running release starts no upgrade.
      await settled(world);
      expect(begun(world)).toHaveLength(2);
    },
  );

  it.concurrent(
    'rolls back an unhealthy release, once, also after a restart, and installs the next',
    async () => {
      const { world } = await watchingNode();
      await using _world = world;
      offer(world, UNWELL('v1.1.0'));
      await logged(world, 'the watched file was tried before, and is not tried again');
      expect(world.result).toMatchObject({ outcome: 'rolledBack', to: { version: 'v1.1.0' } });
      expect(await world.rest()).toBe('v1.0.0');
      expect(begun(world)).toHaveLength(1);

      await world.supervisor.powerCycle();
      await logged(world, 'the watched file was tried before, and is not tried again', 2);
      // A file with the same bytes is the same release, however often it is replaced.
      await settled(world);
      const known = states(world).length;
      offer(world, UNWELL('v1.1.0'));
      await settled(world, known);
      expect(begun(world)).toHaveLength(1);
      expect(await world.rest()).toBe('v1.0.0');
      expect(await doctor(world)).toEqual([
        ['ok', expect.stringContaining('is watched')],
        ['warning', expect.stringContaining('the latest upgrade to v1.1.0: rolledBack: step')],
      ]);

      offer(world, singleFile('v1.2.0'));
      await served(world, 'v1.2.0');
    },
  );

  it.concurrent(
    'ignores a file that others can write, logs each reason once, and continues when the access is corrected',
    async () => {
      const { world } = await watchingNode();
      await using _world = world;
      const folder = world.workspace.path('offered');
      const refusals = () =>
        logOf(world).filter(
          ({ msg }) => msg === 'the watched file is not trusted, or cannot be read',
        );
      for (const [index, [fileMode, folderMode, wanted]] of [
        [0o666, 0o755, 'wins": group or others can write to it (mode 0666); wanted'],
        [0o644, 0o777, 'offered": group or others can write to it (mode 0777); wanted'],
        [0o644, 0o1777, '(mode 1777); wanted'],
      ].entries()) {
        chmodSync(folder, folderMode as number);
        offer(world, singleFile('v1.1.0'), fileMode as number);
        await until(() => refusals().length > index);
        expect(refusals()[index]?.['found']).toContain(wanted);
      }
      // The fourth verdict equals the third, so it is not reported again.
      await until(() => states(world).filter((state) => state === 'deferred').length === 4);
      expect(refusals()).toHaveLength(3);
      expect(await doctor(world)).toEqual([['problem', expect.stringContaining('mode 1777')]]);
      expect(existsSync(world.folder)).toBe(false);
      chmodSync(folder, 0o755);
      await served(world, 'v1.1.0');
    },
  );

  it.concurrent('does not take the program of the service itself', async () => {
    const { world, configure } = await watchingNode('none');
    await using _world = world;
    configure('watching', world.target);
    await logged(world, 'a file is watched for an upgrade');
    const whole = world.workspace.write('program files/next', singleFile('v1.1.0'), 0o755);
    renameSync(whole, world.target);
    const { found } = await logged(world, 'cannot upgrade to the watched file now');
    expect(found).toContain('it is the program of the service itself');
    expect(world.supervisor.started).toHaveLength(1);
  });
});

describe('a daemon whose config does not ask for it', () => {
  it.concurrent('watches a file only while the config says so', async () => {
    const { world, configure } = await watchingNode('absent');
    await using _world = world;
    // Waits for two config reloads. Config and watched file are checked equally often, so this time is long enough to notice a watched file.
    const reloaded = async (): Promise<void> => {
      for (const file of ['/nowhere/a', '/nowhere/b']) {
        const { length } = logOf(world).filter(({ msg }) => msg === 'config changed');
        configure('none', file);
        await logged(world, 'config changed', length + 1);
      }
    };
    offer(world, singleFile('v1.1.0'));
    await reloaded();
    expect(existsSync(world.folder)).toBe(false);
    expect(await doctor(world)).toEqual([]);

    configure('watching');
    await served(world, 'v1.1.0');
    configure('none');
    // The previous daemon logged this when it ended, so wait for the second line.
    await logged(world, 'upgrades by a watched file are off', 2);
    const known = states(world).length;
    offer(world, singleFile('v1.2.0'));
    await reloaded();
    expect(states(world)).toHaveLength(known);
    expect(await world.rest()).toBe('v1.1.0');
    expect(begun(world)).toHaveLength(1);
  });

  it.concurrent('does not watch when it is no service, and logs this', async () => {
    const { world } = await watchingNode();
    await using _world = world;
    await world.supervisor.stop(0);
    await using daemon = await Daemon.start(world.workspace, world.config);
    const said = await daemon.logged(({ msg }) => msg.includes('this daemon is not a service'));
    expect(said).toMatchObject({ key: 'upgrade.watchingPath' });
  });
});
