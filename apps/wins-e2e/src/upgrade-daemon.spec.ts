import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { runWins, startProgram, type Outcome } from './harness/built-program.js';
import { fakeRelease } from './harness/fake-release.js';
import { nodeWithDaemon } from './harness/node-with-daemon.js';
import { processesWith, until } from './harness/process-table.js';
import { singleFile } from './harness/single-file.js';
import { sha256, type UpgradeWorld } from './harness/upgrade-world.js';

/** Lets the daemon run a helper, as a container does: `wins cli prc run --path wins-upgrade --args "up …"`. */
function upgradeThroughDaemon(
  world: UpgradeWorld,
  version: string,
  ...args: string[]
): Promise<Outcome> {
  const upgrader = world.workspace.write('wins-upgrade', singleFile(version), 0o755);
  return runWins(
    [
      ...['cli', 'prc', 'run', '--server', world.pipe, '--path', upgrader, '--'],
      ...['up', '--json', '--service', world.definition, '--wait', '20s', ...args],
    ],
    world.workspace.environment,
  );
}

/** Waits for the result of a helper that left its run. */
async function result(world: UpgradeWorld) {
  await until(() => existsSync(`${world.folder}/result.json`));
  await until(() => processesWith('--apart').length === 0);
  return world.result;
}

describe('a real daemon', () => {
  it('is upgraded by a helper that it runs itself and that outlives it, twice', async () => {
    await using world = await nodeWithDaemon();
    for (const version of ['v1.1.0', 'v1.2.0']) {
      const before = world.supervisor.pid;
      const { stdout, stderr, code } = await upgradeThroughDaemon(world, version);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout.toString())).toMatchObject({
        outcome: 'handedOver',
        result: `${world.folder}/result.json`,
      });
      await until(() => world.supervisor.pid !== before && existsSync(world.folder));
      await until(() => existsSync(`${world.folder}/result.json`));
      expect(await world.rest()).toBe(version);
      expect(await result(world)).toMatchObject({ outcome: 'upgraded', to: { version } });
      expect(world.installed).toBe(sha256(singleFile(version)));
      expect(world.leftovers).toEqual([]);
    }
  });

  it('tells who asks through it at once when there is nothing to do, or too little', async () => {
    await using world = await nodeWithDaemon();
    const same = await upgradeThroughDaemon(world, 'v1.0.0');
    expect([same.code, JSON.parse(same.stdout.toString())]).toEqual([
      0,
      expect.objectContaining({ outcome: 'nothing' }),
    ]);
    const older = await upgradeThroughDaemon(world, 'v0.9.0');
    expect([older.code, JSON.parse(older.stdout.toString())]).toEqual([
      65,
      expect.objectContaining({ outcome: 'refused' }),
    ]);
    expect(world.supervisor.started).toHaveLength(1);
    expect(world.leftovers).toEqual([]);
  });

  it('serves again when the release that a helper brings is not well', async () => {
    await using world = await nodeWithDaemon();
    const offered = world.workspace.write(
      'bad',
      fakeRelease('v2.0.0', 'lies about its version'),
      0o755,
    );
    const { code } = await upgradeThroughDaemon(world, 'v1.1.0', '--path', offered);
    expect(code).toBe(0);
    expect(await result(world)).toMatchObject({
      outcome: 'rolledBack',
      reason: expect.stringContaining('found release "v9.9.9"') as string,
    });
    expect(await world.rest()).toBe('v1.0.0');
    expect(world.installed).toBe(sha256(singleFile('v1.0.0')));
  });

  it('is upgraded by the program itself, run by an operator, also with a key in the config that no release knows', async () => {
    await using world = await nodeWithDaemon();
    const config = JSON.parse(readFileSync(world.config, 'utf8')) as object;
    writeFileSync(world.config, JSON.stringify({ ...config, of_tomorrow: true }));
    const program = world.workspace.write('wins-1.1', singleFile('v1.1.0'), 0o755);
    const args = ['up', '--service', world.definition, '--wait=20s'];
    const { code, stdout } = await startProgram(program, args, world.workspace.environment).outcome;
    expect([code, stdout.toString()]).toEqual([0, 'wins: upgraded: the release v1.1.0 serves\n']);
    expect(await world.rest()).toBe('v1.1.0');
  });

  it('finishes or undoes an upgrade whose helper was killed, when it is started the next time', async () => {
    await using world = await nodeWithDaemon();
    const offer = (release: string) => [
      '--path',
      world.workspace.write('offered', singleFile(release), 0o755),
    ];
    expect((await world.up(offer('v1.1.0'))).code).toBe(0);
    const acts = world.effects;
    for (const [act, next] of [
      ['stop service', 'v1.2.0'],
      ['start service', 'v1.3.0'],
    ] as const) {
      const before = await world.rest();
      const { signal } = await world.up(offer(next), { [acts.indexOf(act) + 1]: 'after' });
      expect(signal).toBe('SIGKILL');
      await world.supervisor.powerCycle();
      const version = await world.rest();
      expect([before, next]).toContain(version);
      expect(world.installed).toBe(sha256(singleFile(version)));
    }
  });

  it('cannot be made of a program that is not one file', async () => {
    await using world = await nodeWithDaemon();
    const { code, stderr } = await runWins(
      ['up', '--service', world.definition],
      world.workspace.environment,
    );
    expect([code, stderr]).toEqual([65, expect.stringContaining('another system')]);
    expect(world.supervisor.started).toHaveLength(1);
  });
});

describe('wins cli upgrade', () => {
  function cliUpgrade(world: UpgradeWorld, program: string, ...args: string[]): Promise<Outcome> {
    const upgrader = world.workspace.write('wins-upgrade', program, 0o755);
    return runWins(
      [
        ...['cli', 'upgrade', '--server', world.pipe, '--path', upgrader],
        ...['--service', world.definition, '--wait-timeout', '60s', ...args],
      ],
      world.workspace.environment,
    );
  }

  it('comes back when the new daemon serves, with its own config', async () => {
    await using world = await nodeWithDaemon();
    const config = world.workspace.path('my config');
    copyFileSync(world.config, config);
    const { code, stdout, stderr } = await cliUpgrade(
      world,
      singleFile('v1.1.0'),
      ...['--config', config],
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.toString()).toBe('wins: upgraded: the release v1.1.0 serves\n');
    expect(await world.answer()).toMatchObject({ version: 'v1.1.0' });
    expect(world.supervisor.command.slice(-2)).toEqual(['--config', config]);
  });

  it('says so when the release before serves again', async () => {
    await using world = await nodeWithDaemon();
    const broken = singleFile('v1.1.0').replace(
      '\n',
      "\nif (process.argv.includes('run')) process.exit(7);\n",
    );
    const { code, stderr } = await cliUpgrade(world, broken);
    expect([code, stderr]).toEqual([
      125,
      expect.stringMatching(/^wins: rolledBack: step prove failed/),
    ]);
    expect(await world.answer()).toMatchObject({ version: 'v1.0.0' });
  });

  it('says so at once when there is nothing to do, or the helper refuses', async () => {
    await using world = await nodeWithDaemon();
    const same = await cliUpgrade(world, singleFile('v1.0.0'));
    expect([same.code, same.stdout.toString()]).toEqual([0, expect.stringContaining('nothing')]);
    const older = await cliUpgrade(world, singleFile('v0.9.0'));
    expect([older.code, older.stderr]).toEqual([126, expect.stringContaining('is older than')]);
    expect(world.supervisor.started).toHaveLength(1);
  });
});
