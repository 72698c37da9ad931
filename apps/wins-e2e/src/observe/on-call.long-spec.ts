import { mayMount } from '@wins/base/testing';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { runWins, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { freeMetrics, scrape, scrapeUntil } from '../testing/scrape.js';
import { standIn } from '../testing/packages/package-folder.js';
import { freePorts, HostProgram, Tunnel } from '../testing/tunnel/tunnel.js';
import { fakeRelease } from '../testing/upgrade/fake-release.js';
import { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

interface Report {
  readonly healthy: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly level: string;
    readonly found: string;
  }[];
}

const DISK_BYTES = 2 * 1024 * 1024;

describe('an operator on call', () => {
  let workspace: Workspace;
  let tool: string;
  let config: string;
  beforeEach(() => {
    workspace = new Workspace();
    program = WINS;
    tool = workspace.script('tool', 'echo up; exec sleep 1000');
    config = workspace.config([tool], { audit: { directory: workspace.path('audit') } });
  });
  afterEach(() => workspace[Symbol.dispose]());
  let program = WINS;
  const wins = async (...words: string[]) => {
    const { code, stdout, stderr } = await runWins(words, workspace.environment, program);
    return { code, stdout: String(stdout), stderr };
  };
  const report = async (word: 'status' | 'doctor') => {
    const { code, stdout } = await wins(word, '--config', config, '-o', 'json');
    return { code, ...(JSON.parse(stdout) as Report) };
  };
  const told = async (check: string) =>
    (await report('doctor')).findings
      .filter((finding) => finding.check === check && finding.level !== 'ok')
      .map(({ level, found }) => `${level}: ${found}`);

  it('sees on one screen what a node does, and the doctor begins with it', async () => {
    await using _daemon = await Daemon.start(workspace, config);
    const run = startWins(['cli', 'prc', 'run', '--path', tool], workspace.environment);
    await run.printed('up');
    await wins('cli', 'prc', 'run', '--path', workspace.script('other', ''));
    const { code, stdout } = await wins('status', '--config', config);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok +daemon +serves v\S+ for \S+ \(process \d+\)\n/);
    expect(stdout).toContain('1 run (rancher-wins-tool)');
    expect(stdout).toMatch(/refusals +1 within 24 h, last: \S+ start .*other: not listed/);
    expect(stdout).toMatch(/disk +state folder .* MiB free\n/);
    // oxlint-disable-next-line no-control-regex -- colours are for terminals
    expect(stdout).not.toMatch(/\u001b/);
    const asked = await report('status');
    expect([asked.code, asked.healthy]).toEqual([0, true]);
    run.child.kill('SIGTERM');
    await run.outcome;
  });

  it('sees in the status that the config was rejected, and that no daemon serves', async () => {
    await using daemon = await Daemon.start(workspace, config);
    writeFileSync(config, 'nonsense: [');
    await daemon.logged(({ msg }) => msg.startsWith('config rejected'));
    const rejected = await wins('status', '--config', config);
    expect(rejected.code).toBe(2);
    expect(rejected.stdout).toMatch(/^problem +config +\S+:1:12: found text that is neither/m);
    expect(rejected.stdout).toMatch(
      /^ +→ fix it .*until then the daemon uses the previous config/m,
    );
    await daemon.stop();
    const down = await wins('status', '--config', config);
    expect(down.code).toBe(2);
    expect(down.stdout).toMatch(/^problem +daemon +does not serve: /);
    expect(down.stdout).toContain('→ start the daemon');
  });

  it('learns from the doctor that a pinned program was replaced', async () => {
    workspace.config([{ path: tool, sha256: '0'.repeat(64) }]);
    const [found] = await told('whitelist');
    expect(found).toMatch(/^problem: cannot run .* is not among the 1 pinned for this path/);
    const words = ['srv', 'config', 'explain', '--config', config, '--path', tool];
    expect((await wins(...words)).code).toBe(126);
  });

  it('learns from the doctor that nothing listens on a listed port', async () => {
    const [port = 0] = await freePorts(1);
    workspace.config([tool], { white_list: { processPaths: [tool], proxyPorts: [port] } });
    expect(await told('port')).toEqual([`warning: nothing listens on port ${port} of this host`]);
  });

  it('learns from the doctor that the audit log of a running daemon was moved', async () => {
    await using _daemon = await Daemon.start(workspace, config);
    renameSync(workspace.path('audit', 'rancher_wins'), workspace.path('moved'));
    expect(await told('audit')).toEqual([
      expect.stringContaining('it was moved or removed') as string,
    ]);
  });

  it('learns from the doctor that a daemon crashed', async () => {
    await using first = await Daemon.start(workspace, config);
    await wins('srv', 'events', '--config', config);
    await first.stop('SIGKILL');
    await using _second = await Daemon.start(workspace, config);
    expect(await told('history')).toEqual([
      expect.stringContaining('the daemon ended unexpectedly once') as string,
    ]);
  });

  it('learns from the doctor that an upgrade was interrupted', async () => {
    await using world = await UpgradeWorld.empty();
    writeFileSync(world.target, fakeRelease('v1.0.0'), { mode: 0o755 });
    world.define(`"${world.target}" srv app run --config "${world.config}"`);
    workspace.variables['WINS_SERVICE'] = world.definition;
    program = standIn('wins.cjs');
    mkdirSync(world.folder, { mode: 0o700 });
    writeFileSync(`${world.folder}/journal.json`, '{}');
    expect(await told('upgrade')).toEqual([
      expect.stringContaining('an upgrade is running or was interrupted') as string,
    ]);
    world.supervisor.start();
    await world.rest();
    expect(await told('upgrade')).toEqual([
      expect.stringContaining('the latest upgrade: rolledBack') as string,
    ]);
  });

  it('ends a run that does not end when asked, at once', async () => {
    const deaf = workspace.script(
      'deaf',
      "trap 'echo asked' TERM; echo up; while :; do sleep 1; done",
    );
    workspace.config([deaf]);
    await using _daemon = await Daemon.start(workspace, config);
    const run = startWins(['cli', 'prc', 'run', '--path', deaf], workspace.environment);
    await run.printed('up');
    const stopped = await wins('cli', 'prc', 'stop', '--now', 'rancher-wins-deaf', '-o', 'json');
    expect(stopped.code).toBe(0);
    expect(JSON.parse(stopped.stdout)).toMatchObject({ signal: 'SIGKILL', reason: 'stopped' });
    const { code, stdout } = await run.outcome;
    // The program was killed without a request to stop.
    expect([code, String(stdout)]).toEqual([137, 'up\n']);
  });

  it('follows runs with bars', async () => {
    await using _daemon = await Daemon.start(workspace, config);
    const run = startWins(['cli', 'prc', 'run', '--path', tool], workspace.environment);
    await run.printed('up');
    const top = startWins(['cli', 'prc', 'top', '-o', 'table'], workspace.environment);
    await top.printed('██████████');
    expect(top.stdout()).toMatch(/NAME +STATE +CPU +MEM +CPU % +MEMORY/);
    top.child.kill('SIGINT');
    run.child.kill('SIGTERM');
    await Promise.all([top.outcome, run.outcome]);
  });

  it('reads the log of a daemon whose standard error is a file, and follows it', async () => {
    const log = openSync(workspace.path('log'), 'w');
    const words = [WINS, 'srv', 'app', 'run', '--config', config];
    const { environment: env } = workspace;
    const daemon = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', log] });
    const waiting = ['cli', 'app', 'info', '--wait-timeout', '1m'];
    expect((await wins(...waiting)).code).toBe(0);
    expect((await wins('logs', '--config', config)).stdout).toContain('"msg":"ready"');
    expect((await wins('logs', '--config', config, '-n', '0')).stdout).toBe('');
    const chosen = (...more: string[]) => wins('logs', '--config', config, ...more);
    expect((await chosen('--since', '1h', '--level', 'error')).stdout).toBe('');
    expect((await chosen('--since', '1h')).stdout).toContain('"msg":"starting"');
    expect((await chosen('--until', '2026-01-01')).stdout).toBe('');
    expect(await chosen('--level', 'loud')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('"loud"') as string,
    });
    const errors = startWins(['logs', '--config', config, '-f', '--level', 'error'], env);
    const follower = startWins(['logs', '--config', config, '-f', '-n', '1'], env);
    await follower.printed('\n');
    writeFileSync(config, 'nonsense: [');
    await follower.printed('config rejected');
    await errors.printed('config rejected');
    expect(errors.stdout()).not.toContain('"level":"info"');
    follower.child.kill();
    errors.child.kill();
    daemon.kill();
    await once(daemon, 'close');
  });

  it('follows whole lines, also one of which only a part was written at first', async () => {
    const log = openSync(workspace.path('log'), 'a');
    const words = [WINS, 'srv', 'app', 'run', '--config', config];
    const { environment: env } = workspace;
    const daemon = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', log] });
    expect((await wins('cli', 'app', 'info', '--wait-timeout', '1m')).code).toBe(0);
    appendFileSync(log, '{"level":"warn","msg":"whole"}\n{"level":"error","msg":"begun ');
    const letter = Buffer.from('é');
    appendFileSync(log, letter.subarray(0, 1));
    const follower = startWins(['logs', '--config', config, '-f', '--level', 'warn'], env);
    await follower.printed('whole');
    appendFileSync(log, letter.subarray(1));
    appendFileSync(log, ' and ended"}\n');
    await follower.printed('{"level":"error","msg":"begun é and ended"}\n');
    follower.child.kill();
    daemon.kill();
    await once(daemon, 'close');
  });

  it('learns where the log goes when it is no file', async () => {
    await using daemon = await Daemon.start(workspace, config);
    const { code, stderr } = await wins('logs', '--config', config);
    expect(code).toBe(69);
    expect(stderr).toContain(`the daemon (process ${daemon.child.pid}) logs to `);
    expect(stderr).toContain(`journalctl -f _PID=${daemon.child.pid}`);
  });

  const onItsOwnDisk = wherePossible(
    it,
    mayMount(),
    'a full state disk, since only root may mount',
  );
  onItsOwnDisk('sees a full state disk, and no program is begun there', async () => {
    mkdirSync(workspace.runtimeDirectory, { mode: 0o700 });
    const mount = (...words: string[]) =>
      spawnSync(words[0] ?? '', [...words.slice(1), workspace.runtimeDirectory]).status;
    expect(mount('/bin/mount', '-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=0700`, 'tmpfs')).toBe(
      0,
    );
    try {
      const began = workspace.path('began');
      const marks = workspace.script('marks', `touch ${began}`);
      workspace.config([marks], { audit: { directory: workspace.path('audit') } });
      await using _daemon = await Daemon.start(workspace, config);
      const filler = workspace.path('run', 'filler');
      // Fills the disk, however much the daemon has already written.
      expect(() => writeFileSync(filler, Buffer.alloc(2 * DISK_BYTES))).toThrow('ENOSPC');
      expect(await told('disk')).toEqual([
        expect.stringMatching(/^problem: state folder .*: its disk has 0 MiB free$/) as string,
      ]);
      const { code, stderr } = await wins('cli', 'prc', 'run', '--path', marks);
      expect(code).toBe(125);
      expect(stderr).toMatch(/cannot start a run: the disk of .* is full .*Free space there/);
      expect(spawnSync('/bin/ls', [began]).status).not.toBe(0);
    } finally {
      mount('/bin/umount', '-l');
    }
  });

  it('sees a program that hangs as an event, and by the doctor', async () => {
    // The system accepts connections for this program, but the program never reads.
    await using hung = await HostProgram.tcp((socket) => socket.pause());
    const [port = 0] = await freePorts(1);
    workspace.config([], { white_list: { processPaths: [], proxyPorts: [hung.port] } });
    await using _daemon = await Daemon.start(workspace, config);
    await using _tunnel = await Tunnel.start(workspace, `TCP:${port}:${hung.port}`);
    const follower = startWins(['srv', 'events', '--config', config, '-f'], workspace.environment);
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /metrics HTTP/1.1\r\n\r\n'));
    await follower.printed(`connectSlow       port=${hung.port}`);
    expect(await told('port')).toEqual([
      expect.stringContaining('accepts connections but sent nothing for 15 s') as string,
    ]);
    socket.destroy();
    follower.child.kill();
  });

  it('has series from the start, so that what happens first shows, and the state of config and disks', async () => {
    const free = await freeMetrics();
    workspace.config([tool], free.keys);
    await using daemon = await Daemon.start(workspace, config);
    await daemon.logged(({ msg }) => msg === 'metrics are served');
    const zero = [
      'wins_refusals_total{action="start",rule="digest not pinned"}',
      'wins_refusals_total{action="connect",rule="port-not-listed"}',
      'wins_run_starts_total{entry="tool",result="refused"}',
      'wins_run_ends_total{entry="tool",reason="outOfMemory"}',
      'wins_run_output_bytes_total{entry="tool",stream="stderr"}',
      'wins_run_exit_codes_total{entry="tool",class="nonzero"}',
      'wins_tunnel_slow_streams_total',
      'wins_upgrades_total{outcome="rolledBack"}',
      'wins_conditions{feature="config",level="problem"}',
    ];
    const now = await scrape(free.address);
    expect(zero.map((series) => [series, now.get(series)])).toEqual(
      zero.map((series) => [series, 0]),
    );
    expect(now.get('wins_disk_free_bytes{folder="state"}')).toBeGreaterThan(0);
    writeFileSync(config, 'nonsense: [');
    await scrapeUntil(
      free.address,
      (then) => then.get('wins_conditions{feature="config",level="problem"}') === 1,
    );
  });

  it('sees each step of an upgrade ticked off, also without a terminal', async () => {
    await using world = await UpgradeWorld.running();
    const words = ['--path', world.release('v1.1.0')];
    const up = await world.up(words);
    const ticks = up.stderr.split('\n').filter((line) => line.startsWith('wins: ✓ '));
    expect([up.code, ticks.length]).toEqual([0, expect.any(Number)]);
    expect(ticks[0]).toContain('copy the new program beside the old one');
    expect(ticks.join('\n')).toContain('✓ wait until the daemon answers with the new release');
    const quiet = await world.up([...words, '--quiet']);
    expect(quiet.stderr).toBe('');
  });
});
