import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { runWins, startProgram, startWins, type RunningProgram } from '../testing/built-program.js';
import { processesWith, until } from '../testing/process-table.js';
import { freePorts, textOf, Tunnel } from '../testing/tunnel/tunnel.js';
import { COUNTER, EXPORTER } from '../testing/upgrade/detached-programs.js';
import { nodeWithDaemon } from '../testing/upgrade/node-with-daemon.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import type { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';

const DETACHED = { detached: { allow: true } };

describe('runs of a daemon that is upgraded', () => {
  let world: UpgradeWorld;
  let tunnel: Tunnel;
  let port: number;
  let exporterPort: number;

  beforeEach(async () => {
    [port = 0, exporterPort = 0] = await freePorts(2);
    world = await nodeWithDaemon({}, (workspace) => {
      const counters = ['held', 'detached', 'mortal'].map((name) =>
        workspace.program(name, COUNTER),
      );
      const [held, detached, mortal] = counters;
      const exporter = workspace.program('exporter', EXPORTER);
      const granted = [held, detached, exporter].map((program) => ({ path: program, ...DETACHED }));
      return { white_list: { processPaths: [...granted, mortal], proxyPorts: [exporterPort] } };
    });
    const proxy = world.workspace.path('proxy');
    tunnel = await Tunnel.start(world.workspace, `TCP:${port}:${exporterPort}`, '--proxy', proxy);
  });
  afterEach(async () => {
    await tunnel[Symbol.asyncDispose]();
    const { folder } = world.workspace;
    const clients = processesWith('cli\0prc', folder);
    const runs = processesWith(`${folder}/rancher-wins-`);
    for (const pid of [...clients, ...processesWith('srv\0keep', folder), ...runs])
      process.kill(pid, 'SIGKILL');
    await until(() => processesWith('srv\0keep', folder).length === 0);
    await world[Symbol.asyncDispose]();
  });

  const prc = (command: string, ...args: string[]): RunningProgram =>
    startWins(
      ['cli', 'prc', command, '--server', world.pipe, ...args],
      world.workspace.environment,
    );
  const run = (name: string, ...more: string[]): RunningProgram =>
    prc('run', ...more, '--path', world.workspace.path(name), '--', world.workspace.path('stop'));
  const scrape = async (): Promise<string[]> => {
    const request = get({ host: '127.0.0.1', port, agent: false });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return (await textOf(answer)).split(' ');
  };
  /** No number may be missing or repeated. Returns the count. */
  function expectCounted(text: string): number {
    const lines = text.split('\n').slice(0, -1);
    expect(lines).toEqual(lines.map((_, index) => String(index)));
    return lines.length;
  }

  it('go on: their clients miss no number and get none twice, and the plan said which of them end', async () => {
    const held = run('held');
    const mortal = run('mortal');
    const name = (await run('detached', '--detach').outcome).stdout.toString().trim();
    const following = prc('logs', '-f', name);
    const exporter = world.workspace.path('exporter');
    const started = prc('run', '--detach', '--path', exporter, '--', String(exporterPort));
    const { stdout } = await started.outcome;
    const reading = prc('logs', '-f', stdout.toString().trim());
    await reading.printed('ready');
    reading.child.kill('SIGKILL');
    for (const client of [held, mortal, following]) await client.printed('20\n');
    const [pid] = await scrape();

    const release = world.workspace.write('next', singleFile('v1.0.1'), 0o755);
    const up = (...more: string[]) =>
      startProgram(
        release,
        ['up', '--service', world.definition, '--wait=30s', ...more],
        world.workspace.environment,
      ).outcome;
    const plan = (await up('--dry-run')).stdout.toString();
    const lines = plan.split('\n').slice(-3, -1);
    expect(lines.map((line) => line.split(/: |, /).toSorted())).toEqual([
      [
        ...['detached', 'exporter', 'held'].map((each) => `rancher-wins-${each}`),
        'runs that continue',
      ],
      ['rancher-wins-mortal', 'runs that end with the daemon'],
    ]);
    expect((await up()).code).toBe(0);
    expect(await world.rest()).toBe('v1.0.1');
    const log = readFileSync(path.join(world.folder, 'upgrade.log'), 'utf8');
    expect(log).toContain('"ended":["rancher-wins-mortal"]');

    expect(await mortal.outcome).toMatchObject({
      stderr: expect.stringContaining('daemonStopping') as string,
    });
    for (const client of [held, following]) {
      const seen = client.stdout().split('\n').length;
      await client.printed(`\n${seen + 20}\n`);
    }
    expect((await scrape())[0]).toBe(pid);
    world.workspace.write('stop', '');
    const ended = await held.outcome;
    expect([ended.code, ended.stderr]).toEqual([7, '']);
    expect(expectCounted(ended.stdout.toString())).toBeGreaterThan(40);
    expect(expectCounted((await following.outcome).stdout.toString())).toBeGreaterThan(40);
    const wait = ['cli', 'prc', 'wait', '--server', world.pipe, name];
    expect((await runWins(wait, world.workspace.environment)).code).toBe(7);
  });
});
