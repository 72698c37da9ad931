import { mayMount } from '@wins/base/testing';
import { HealthStatus } from '@wins/wins-api/contract';
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { PlanNode } from '../testing/agent/plan-node.js';
import { runWins, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { healthOf } from '../testing/health-of.js';
import { standIn } from '../testing/packages/package-folder.js';
import { processesWith, until } from '../testing/process-table.js';
import { freeMetrics, scrape } from '../testing/scrape.js';
import { freePorts, HostProgram, Tunnel } from '../testing/tunnel/tunnel.js';
import { fakeRelease } from '../testing/upgrade/fake-release.js';
import { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

interface Finding {
  readonly check: string;
  readonly code?: string;
  readonly level: string;
  readonly found: string;
  readonly advice?: string;
  readonly since?: string;
}

interface Report {
  readonly healthy: boolean;
  readonly findings: readonly Finding[];
}

const DISK_BYTES = 2 * 1024 * 1024;
/** Parts whose text tells how long ago something happened. */
const AGES = /\d+ s ago|for \S+ \(process/g;

let workspace: Workspace;
let program = WINS;
beforeEach(() => (workspace = new Workspace()));
afterEach(async () => {
  const keepers = () => processesWith('srv\0keep', workspace.folder);
  for (const pid of keepers()) process.kill(pid, 'SIGKILL');
  await until(() => keepers().length === 0);
  workspace[Symbol.dispose]();
});

const wins = (...words: string[]) => runWins(words, workspace.environment, program);
async function ask(word: 'status' | 'doctor', config: string) {
  const { code, stdout } = await wins(word, '--config', config, '-o', 'json');
  return { code, ...(JSON.parse(String(stdout)) as Report) };
}

async function untilIll(config: string, isIll: boolean): Promise<void> {
  while ((await ask('status', config)).healthy === isIll);
}

/** Asks status and doctor, which must agree, and returns the codes of what is not well. */
async function verdict(config: string): Promise<readonly (string | undefined)[]> {
  const [status, doctor] = [await ask('status', config), await ask('doctor', config)];
  const unwell = ({ findings }: Report) =>
    findings
      .filter(({ level }) => level !== 'ok')
      .map(({ level, code, found }) => `${level} ${code}: ${found.replaceAll(AGES, '…')}`);
  expect([status.code, status.healthy, unwell(status)]).toEqual([
    doctor.code,
    doctor.healthy,
    unwell(doctor),
  ]);
  const level = doctor.findings.some((one) => one.level === 'problem') ? 2 : 1;
  expect(doctor.code).toBe(unwell(doctor).length === 0 ? 0 : level);
  return doctor.findings.filter((one) => one.level !== 'ok').map(({ code }) => code);
}

describe('status and doctor say the same', () => {
  it('of a node that is well, in the same last sentence, though the status has fewer lines', async () => {
    const config = workspace.config([workspace.script('tool', 'exit 0')]);
    await using _daemon = await Daemon.start(workspace, config);
    expect(await verdict(config)).toEqual([]);
    const [status, doctor] = await Promise.all(
      ['status', 'doctor'].map(async (word) =>
        String((await wins(word, '--config', config)).stdout).split('\n'),
      ),
    );
    expect(status?.slice(-2)).toEqual(['all is well', '']);
    expect(doctor?.slice(-2)).toEqual(['all is well', '']);
    expect(status?.length).toBeLessThan(doctor?.length ?? 0);
  });

  it('of a daemon that was killed, once, and of the runs that live on without it', async () => {
    const { address, keys } = await freeMetrics();
    const [, port = ''] = address.split(':');
    const stays = workspace.script('stays', 'while :; do sleep 1; done');
    const config = workspace.config([], {
      ...keys,
      white_list: { processPaths: [stays], proxyPorts: [Number(port)] },
      keep: [{ path: stays, name: 'stays' }],
    });
    const daemon = await Daemon.start(workspace, config);
    await until(() => processesWith(workspace.path('rancher-wins-stays')).length > 0);
    await wins('srv', 'events', '--config', config);
    await daemon.stop('SIGKILL');
    expect(await verdict(config)).toEqual(['daemonDown', 'daemonKilled']);
    const { findings } = await ask('status', config);
    expect(findings.map(({ found }) => found)).toContain(
      'they live on without the daemon: keep:stays',
    );
  });

  it('of a daemon that is frozen', async () => {
    const config = workspace.config([workspace.script('tool', 'exit 0')]);
    await using daemon = await Daemon.start(workspace, config);
    daemon.child.kill('SIGSTOP');
    expect(await verdict(config)).toEqual(['daemonMute']);
    daemon.child.kill('SIGCONT');
  });

  it('of a config that is broken, while the daemon serves with the one before, and when it is dead', async () => {
    const config = workspace.config([workspace.script('tool', 'exit 0')]);
    await using daemon = await Daemon.start(workspace, config);
    writeFileSync(config, 'listen: [');
    await daemon.logged(({ msg }) => msg.startsWith('config rejected'));
    expect(await verdict(config)).toEqual(['configInvalid']);
    const { findings } = await ask('status', config);
    const advice = findings.find(({ level }) => level === 'problem')?.advice;
    expect(advice).toContain(`(wins srv config check --config ${config})`);
    const checked = await wins('srv', 'config', 'check', '--config', config);
    expect([checked.code, checked.stderr]).toEqual([78, expect.stringContaining(':1:')]);
    await daemon.stop();
    expect(await verdict(config)).toEqual(['daemonDown', 'configInvalid']);
  });

  it('of a config file that is not there although it was named', async () => {
    expect(await verdict(workspace.path('nope'))).toEqual(['daemonDown', 'configInvalid']);
  });

  const onItsOwnDisk = wherePossible(
    it,
    mayMount(),
    'a full state disk, since only root may mount',
  );
  onItsOwnDisk('of a full disk', async () => {
    mkdirSync(workspace.runtimeDirectory, { mode: 0o700 });
    const mount = (...words: string[]) =>
      spawnSync(words[0] ?? '', [...words.slice(1), workspace.runtimeDirectory]).status;
    expect(mount('/bin/mount', '-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=0700`, 'tmpfs')).toBe(
      0,
    );
    try {
      const more = { audit: { directory: workspace.path('audit') } };
      const config = workspace.config([workspace.script('tool', 'exit 0')], more);
      await using _daemon = await Daemon.start(workspace, config);
      const filler = workspace.path('run', 'filler');
      expect(() => writeFileSync(filler, Buffer.alloc(2 * DISK_BYTES))).toThrow('ENOSPC');
      expect(await verdict(config)).toEqual(['diskFull']);
    } finally {
      mount('/bin/umount', '-l');
    }
  });

  it('of a moved audit folder, a replaced program, a port that must not be relayed and an exporter that hangs, at once', async () => {
    await using hung = await HostProgram.tcp((socket) => socket.pause());
    const [port = 0] = await freePorts(1);
    const pinned = { path: workspace.script('tool', 'exit 0'), sha256: '0'.repeat(64) };
    const config = workspace.config([], {
      audit: { directory: workspace.path('audit') },
      white_list: { processPaths: [pinned], proxyPorts: [hung.port] },
      hostNetwork: { ports: [{ proto: 'tcp', listen: '0.0.0.0:22', to: '172.16.0.2:22' }] },
    });
    await using _daemon = await Daemon.start(workspace, config);
    await using _tunnel = await Tunnel.start(workspace, `TCP:${port}:${hung.port}`);
    const follower = startWins(['srv', 'events', '--config', config, '-f'], workspace.environment);
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\n\r\n'));
    await follower.printed(`connectSlow       port=${hung.port}`);
    renameSync(workspace.path('audit', 'rancher_wins'), workspace.path('moved'));
    expect(await verdict(config)).toEqual([
      'portNotRelayed',
      'auditFolderMissing',
      'programRefused',
      'portSilent',
    ]);
    socket.destroy();
    follower.child.kill();
  });

  it('of an upgrade that was interrupted', async () => {
    await using world = await UpgradeWorld.empty();
    const config = workspace.config([workspace.script('tool', 'exit 0')]);
    await using _daemon = await Daemon.start(workspace, config);
    writeFileSync(world.target, fakeRelease('v1.0.0'), { mode: 0o755 });
    world.define(`"${world.target}" srv app run --config "${world.config}"`);
    workspace.variables['WINS_SERVICE'] = world.definition;
    mkdirSync(world.folder, { mode: 0o700 });
    writeFileSync(`${world.folder}/journal.json`, '{}');
    program = standIn('wins.cjs');
    expect(await verdict(config)).toContain('upgradeUnfinished');
    program = WINS;
  });
});

describe('a condition of the daemon is one in status, doctor, health, metrics and events', () => {
  let config: string;
  let address: string;

  /** Views of the daemon, besides status and doctor. */
  async function views(service: string, feature: string, level: 'warning' | 'problem') {
    const socket = `${workspace.runtimeDirectory}/rancher_wins`;
    const series = `wins_conditions{feature="${feature}",level="${level}"}`;
    const { stdout } = await wins('srv', 'events', '--config', config, '-o', 'json');
    const events = String(stdout)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
      .filter(({ type }) => type === 'conditionBegan' || type === 'conditionEnded')
      .map(({ type, code, about }) => `${String(type)} ${String(code)} ${String(about)}`);
    return {
      isServing: (await healthOf(socket, service)) === HealthStatus.SERVING,
      counted: (await scrape(address)).get(series),
      events,
    };
  }

  it('of a plan that failed, and of its end', async () => {
    await using node = new PlanNode();
    workspace = node.workspace;
    const free = await freeMetrics();
    address = free.address;
    const tool = workspace.script('tool', 'exit 0');
    const install = workspace.script('install', `echo no room >&2; exit 3`);
    const plan = (command: string) => ({
      instructions: [{ name: 'install', command, saveOutput: false }],
    });
    node.localPlan('node.plan', plan(install));
    config = node.config({ localEnabled: true }, [tool], free.keys);
    const daemon = await node.start(config);
    await daemon.logged(({ msg }) => msg === 'an instruction of a plan has ended');
    await untilIll(config, true);
    expect(await verdict(config)).toEqual(['planNotApplied']);
    const { findings } = await ask('status', config);
    const [failed] = findings.filter(({ level }) => level !== 'ok');
    expect(failed?.found).toContain('instruction "install" ended with 3: "no room"');
    expect(Date.parse(failed?.since ?? '')).toBeGreaterThan(0);
    const file = `${node.plans}/node.plan`;
    expect(await views('wins.PlanService', 'agent', 'problem')).toEqual({
      isServing: false,
      counted: 1,
      events: [`conditionBegan planNotApplied ${file}`],
    });
    node.localPlan('node.plan', plan(tool));
    await untilIll(config, false);
    expect(await views('wins.PlanService', 'agent', 'problem')).toEqual({
      isServing: true,
      counted: 0,
      events: [`conditionBegan planNotApplied ${file}`, `conditionEnded planNotApplied ${file}`],
    });
  });

  it('of a kept program that is given up after 10,000 other events, the oldest of which go', async () => {
    const free = await freeMetrics();
    address = free.address;
    const fails = workspace.script('fails', 'exit 3');
    config = workspace.config([fails], {
      ...free.keys,
      keep: [{ path: fails, name: 'own', restart: { policy: 'on-failure:1', delayMs: 1 } }],
    });
    const folder = workspace.path('run', 'rancher_wins.events');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const time = new Date().toISOString();
    const refused = { time, type: 'decided', verdict: 'refused', action: 'start', path: '/no' };
    const events = [...Array.from({ length: 9_999 }, () => refused), { time, type: 'stopping' }];
    const lines = events.map((event, index) => JSON.stringify({ seq: index + 1, ...event }));
    writeFileSync(`${folder}/events.000000000000001.jsonl`, `${lines.join('\n')}\n`, {
      mode: 0o600,
    });
    await using _daemon = await Daemon.start(workspace, config);
    await wins('cli', 'prc', 'wait', 'keep:own');
    expect(await verdict(config)).toEqual(['runGaveUp']);
    expect(await views('wins.Runs', 'detached', 'problem')).toEqual({
      isServing: false,
      counted: 1,
      events: ['conditionBegan runGaveUp keep:own'],
    });
    const { findings } = await ask('status', config);
    const texts = findings.map(({ check, found }) => `${check}: ${found}`);
    expect(texts).toContainEqual(expect.stringMatching(/^refusals: 9999 within 24 h/));
  });

  it('of a kept program that is given up, and of one that a client keeps', async () => {
    const free = await freeMetrics();
    address = free.address;
    const fails = workspace.script('fails', 'exit 3');
    config = workspace.config([{ path: fails, detached: { allow: true, restart: true } }], {
      ...free.keys,
      keep: [{ path: fails, name: 'own', restart: { policy: 'on-failure:1', delayMs: 1 } }],
    });
    await using _daemon = await Daemon.start(workspace, config);
    await wins('cli', 'prc', 'wait', 'keep:own');
    const words = ['run', '-d', '--name', 'web', '--restart', 'on-failure:1', '--path', fails];
    await wins('cli', 'prc', ...words);
    await wins('cli', 'prc', 'wait', 'web');
    expect(await verdict(config)).toEqual(['runGaveUp', 'runGaveUp']);
    expect(await views('wins.Runs', 'detached', 'warning')).toEqual({
      // Only the program of the config is a problem.
      isServing: false,
      counted: 1,
      events: ['conditionBegan runGaveUp keep:own', 'conditionBegan runGaveUp web'],
    });
  });
});
