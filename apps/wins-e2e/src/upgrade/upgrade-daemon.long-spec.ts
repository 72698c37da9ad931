import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { startProgram } from '../testing/built-program.js';
import { until } from '../testing/process-table.js';
import { freeMetrics } from '../testing/scrape.js';
import { countedUpgrades } from '../testing/upgrade/counted-upgrades.js';
import {
  cliUpgrade,
  crashing,
  helperResult,
  runHelper,
  upgradeThroughDaemon,
} from '../testing/upgrade/daemon-upgrades.js';
import { nodeWithDaemon } from '../testing/upgrade/node-with-daemon.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import { Supervisor } from '../testing/upgrade/supervisor.js';
import { sha256 } from '../testing/upgrade/upgrade-world.js';

describe('a real daemon', () => {
  it('serves again when the new release is unhealthy', async () => {
    const { address, keys } = await freeMetrics();
    await using world = await nodeWithDaemon({}, () => keys);
    const { code } = await upgradeThroughDaemon(world, crashing('v1.1.0'));
    expect(code).toBe(0);
    expect(await helperResult(world)).toMatchObject({
      outcome: 'rolledBack',
      reason: expect.stringContaining('step prove failed') as string,
    });
    expect(await world.rest()).toBe('v1.0.0');
    expect(world.installed).toBe(sha256(singleFile('v1.0.0')));
    expect(await countedUpgrades(address, 1)).toEqual({ upgraded: 0, rolledBack: 1, failed: 0 });
  });

  it('is upgraded by the program itself, run by an operator, also with a key in the config that no release knows', async () => {
    const { address, keys } = await freeMetrics();
    await using world = await nodeWithDaemon({}, () => keys);
    const config = JSON.parse(readFileSync(world.config, 'utf8')) as object;
    writeFileSync(world.config, JSON.stringify({ ...config, of_tomorrow: true }));
    const program = world.workspace.write('wins-1.1', singleFile('v1.1.0'), 0o755);
    const args = ['up', '--service', world.definition, '--wait=20s'];
    const { code, stdout } = await startProgram(program, args, world.workspace.environment).outcome;
    expect([code, stdout.toString()]).toEqual([0, 'wins: upgraded: the release v1.1.0 serves\n']);
    expect(await world.rest()).toBe('v1.1.0');
    expect(await countedUpgrades(address, 1)).toEqual({ upgraded: 1, rolledBack: 0, failed: 0 });
  });

  it('undoes one also when its service names it through a link', async () => {
    await using world = await nodeWithDaemon();
    const link = world.workspace.path('link');
    symlinkSync(world.target, link);
    world.define(`"${link}" srv app run --config "${world.config}"`);
    await world.supervisor.powerCycle();
    const journal = `${world.folder}/journal.json`;
    const offered = world.workspace.write('offered', singleFile('v1.1.0'), 0o755);
    await world.up(['--path', offered], { 'stop service': 'before' });
    expect(existsSync(journal)).toBe(true);
    await world.supervisor.powerCycle();
    await until(() => !existsSync(journal));
    expect(world.supervisor.command[0]).toBe(link);
  });

  it('is upgraded by a helper that it runs itself and that outlives it, twice', async () => {
    await using world = await nodeWithDaemon();
    for (const version of ['v1.1.0', 'v1.2.0']) {
      const before = world.supervisor.pid;
      const { stdout, stderr, code } = await upgradeThroughDaemon(world, singleFile(version));
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout.toString())).toMatchObject({
        outcome: 'handedOver',
        result: `${world.folder}/result.json`,
      });
      await until(() => world.supervisor.pid !== before && existsSync(world.folder));
      await until(() => existsSync(`${world.folder}/result.json`));
      expect(await world.rest()).toBe(version);
      expect(await helperResult(world)).toMatchObject({ outcome: 'upgraded', to: { version } });
      expect(world.installed).toBe(sha256(singleFile(version)));
      expect(world.leftovers).toEqual([]);
    }
  });
});

describe('a client of a daemon that may run the helper', () => {
  it('cannot make it run or install another program, or stop another service', async () => {
    await using world = await nodeWithDaemon();
    const { workspace } = world;
    const proof = workspace.path('it-ran');
    const evil = workspace.script('evil', `echo ran >> ${proof}; echo rancher-wins version v9.0.0`);
    const others = workspace.path('others.json');
    writeFileSync(others, JSON.stringify({ command: `"${evil}" server run` }), { mode: 0o600 });
    await using other = await Supervisor.open(others, workspace.environment);
    for (const words of [
      ['--path', evil],
      ['--path', evil, '--dry-run'],
      ['--apart', '--path', evil],
      ['--apart'],
      ['--sweep'],
      ['--service', others],
      ['--service', workspace.path('new.json')],
    ]) {
      const { code, stderr } = await runHelper(world, singleFile('v1.1.0'), 'up', ...words);
      expect([code, stderr]).toEqual([65, expect.stringContaining(`found ${words[0]}; wanted up`)]);
    }
    expect(existsSync(proof)).toBe(false);
    expect(existsSync(`${evil}.upgrade`)).toBe(false);
    expect([other.started.length, world.supervisor.started.length]).toEqual([0, 1]);
  });
});

describe('wins cli upgrade', () => {
  it('reports that the previous release serves again', async () => {
    await using world = await nodeWithDaemon();
    const { code, stderr } = await cliUpgrade(world, crashing('v1.1.0'));
    expect([code, stderr]).toEqual([
      125,
      expect.stringMatching(/^wins: rolledBack: step prove failed/),
    ]);
    expect(await world.rest()).toBe('v1.0.0');
  });
});
