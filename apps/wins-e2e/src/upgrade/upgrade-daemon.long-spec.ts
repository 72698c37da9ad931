import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { startProgram } from '../testing/built-program.js';
import { until } from '../testing/process-table.js';
import { freeMetrics } from '../testing/scrape.js';
import { countedUpgrades } from '../testing/upgrade/counted-upgrades.js';
import {
  crashing,
  helperResult,
  upgradeThroughDaemon,
} from '../testing/upgrade/daemon-upgrades.js';
import { nodeWithDaemon } from '../testing/upgrade/node-with-daemon.js';
import { singleFile } from '../testing/upgrade/single-file.js';
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

  it('finishes or undoes an upgrade whose helper was killed, when it is started the next time', async () => {
    await using world = await nodeWithDaemon();
    for (const [effect, next] of [
      ['stop service', 'v1.1.0'],
      ['start service', 'v1.2.0'],
    ] as const) {
      const before = await world.rest();
      const offered = world.workspace.write('offered', singleFile(next), 0o755);
      await world.up(['--path', offered], { [effect]: 'before' });
      expect(existsSync(`${world.folder}/journal.json`)).toBe(true);
      await world.supervisor.powerCycle();
      const version = await world.rest();
      expect([before, next]).toContain(version);
      expect(world.installed).toBe(sha256(singleFile(version)));
    }
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
});
