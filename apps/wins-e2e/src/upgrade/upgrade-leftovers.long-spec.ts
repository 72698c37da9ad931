// A daemon ends leftover processes of its verified copies when it starts, and before it runs such a copy. It must never end its own upgrader.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { until } from '../testing/process-table.js';
import { nodeWithDaemon } from '../testing/upgrade/node-with-daemon.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import { sha256, type UpgradeWorld } from '../testing/upgrade/upgrade-world.js';
import { StrangerProcess, verifiedCopy } from '../testing/upgrade/verified-copy.js';

const NEXT = singleFile('v1.1.0');

const nameUpgrader = (world: UpgradeWorld, identity: string): void =>
  writeFileSync(`${world.folder}/upgrader`, identity, { mode: 0o600 });

describe('a process that upgrades from the path of a verified copy', () => {
  it('is not ended by the daemon on trial', async () => {
    await using world = await nodeWithDaemon();
    const offered = world.workspace.write('offered', NEXT, 0o755);
    const runtime = verifiedCopy(world, process.execPath, 'wins-upgrade');
    const { outcome } = world.startUp(['--path', offered, '--wait=20s'], {}, runtime);
    expect(await outcome).toMatchObject({ code: 0, signal: null });
    expect(await world.rest()).toBe('v1.1.0');
    await world.supervisor.powerCycle();
    expect(await world.rest()).toBe('v1.1.0');
    expect(world.installed).toBe(sha256(NEXT));
    expect(world.supervisor.said).not.toContain('"evidence":"executable"');
  });

  it('is not ended for a client that wants to run this copy; the client gets an error', async () => {
    await using world = await nodeWithDaemon();
    const { workspace } = world;
    const offered = world.release('v1.1.0', 'hangs when asked for its version');
    const runtime = verifiedCopy(world, process.execPath, 'wins-upgrade');
    const helper = world.startUp(['--path', offered], {}, runtime);
    await until(() => existsSync(`${world.folder}/upgrader`));
    await until(() => readFileSync(`${world.folder}/upgrader`).length > 0);
    const program = workspace.script('wins-upgrade', 'exit 0');
    const { code, stderr } = await runWins(
      ['cli', 'prc', 'run', '--server', world.pipe, '--path', program],
      workspace.environment,
    );
    expect(stderr).toContain(`process ${helper.child.pid} runs it`);
    expect(stderr).toContain('is upgrading this one');
    expect(code).not.toBe(0);
    expect(helper.child.signalCode).toBeNull();
    helper.child.kill('SIGKILL');
    await helper.outcome;
  });
});

describe('a name of the upgrader in the private folder', () => {
  it('keeps the process from the sweep that it names by number and start', async () => {
    await using world = await nodeWithDaemon();
    mkdirSync(world.folder, { mode: 0o700 });
    using named = new StrangerProcess(verifiedCopy(world, '/bin/sleep', 'sleeper'));
    using other = new StrangerProcess(verifiedCopy(world, '/bin/sleep', 'wins-upgrade'));
    nameUpgrader(world, named.identity);
    await world.supervisor.powerCycle();
    await other.ended;
    await until(() => world.supervisor.said.includes('"msg":"ready"'));
    expect(named.runs).toBe(true);
  });

  it('protects nothing unless it identifies one process of this boot by id and start time', async () => {
    await using world = await nodeWithDaemon();
    mkdirSync(world.folder, { mode: 0o700 });
    const copy = verifiedCopy(world, '/bin/sleep', 'sleeper');
    for (const change of [
      (identity: string) => identity.replace(/:\d+/, ':17'),
      (identity: string) => `${identity.slice(0, -1)}x`,
      (identity: string) => identity.replace(/:.*/, ''),
      (identity: string) => `${identity}\n${identity}\n`,
      () => '',
    ]) {
      using stranger = new StrangerProcess(copy);
      nameUpgrader(world, change(stranger.identity));
      await world.supervisor.powerCycle();
      await stranger.ended;
    }
  });

  it('protects nothing when others can write to it, or to the folder', async () => {
    await using world = await nodeWithDaemon();
    mkdirSync(world.folder, { mode: 0o700 });
    const copy = verifiedCopy(world, '/bin/sleep', 'sleeper');
    for (const opened of [`${world.folder}/upgrader`, world.folder]) {
      using stranger = new StrangerProcess(copy);
      nameUpgrader(world, stranger.identity);
      chmodSync(opened, 0o777);
      await world.supervisor.powerCycle();
      await stranger.ended;
      chmodSync(opened, 0o700);
    }
  });

  it('is removed when the helper ends, and protects nothing after the helper was killed', async () => {
    await using world = await nodeWithDaemon();
    const offered = world.workspace.write('offered', NEXT, 0o755);
    const runtime = verifiedCopy(world, process.execPath, 'wins-upgrade');
    await world.startUp(['--path', offered], { 'stop service': 'before' }, runtime).outcome;
    for (const name of ['upgrader', 'journal.json'])
      expect(existsSync(`${world.folder}/${name}`)).toBe(true);
    using stranger = new StrangerProcess(verifiedCopy(world, '/bin/sleep', 'sleeper'));
    await world.supervisor.powerCycle();
    await stranger.ended;
    await world.rest();
    expect(existsSync(`${world.folder}/journal.json`)).toBe(false);
    expect(await world.up(['--path', offered, '--wait=20s'])).toMatchObject({ code: 0 });
    expect(world.leftovers).toEqual([]);
  });
});
