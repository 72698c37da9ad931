import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { standIn } from '../testing/packages/package-folder.js';
import { until } from '../testing/process-table.js';
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
  it.concurrent('is replaced by each release that is put there, and leaves nothing behind', async () => {
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
  });

  it.concurrent('rolls back an unhealthy release, once, also after a restart, and installs the next', async () => {
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
  });

  it.concurrent('ignores a file that others can write, logs each reason once, and continues when the access is corrected', async () => {
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
