import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { chmodSync, copyFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Daemon } from '../testing/daemon.js';
import { startRequest } from '../testing/digests.js';
import {
  freeMetrics,
  growth,
  scrape,
  scrapeUntil,
  unusual,
  type Scrape,
} from '../testing/scrape.js';
import { openLibraryTunnel } from '../testing/tunnel/library-tunnel.js';
import { HostProgram } from '../testing/tunnel/tunnel.js';
import { Workspace } from '../testing/workspace.js';

const MEBIBYTE = 1024 * 1024;
const CONNECTIONS = 20;
/** Long enough for a stall: the daemon checks the event loop each second, and reports a check that is 1 s late. */
const STALL_MS = 2000;
const SOME = expect.any(Number) as number;

describe('the metrics of a daemon in trouble', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  let metrics: string;
  let address: string;
  let tunnelAddress: string;
  let client: WinsClient;
  let deaf: HostProgram;
  let first: Scrape;

  const tools = {
    computes: workspace.script('computes.exe', 'echo up; while :; do :; done'),
    sleeps: workspace.script('sleeps.exe', 'echo up; exec sleep 1000'),
    floods: workspace.script('floods.exe', 'exec head -c 8000000 /dev/zero'),
  };

  beforeAll(async () => {
    deaf = await HostProgram.tcp((socket) => socket.pause());
    const free = await freeMetrics();
    metrics = free.address;
    const config = workspace.config([], {
      ...free.keys,
      white_list: { processPaths: Object.values(tools), proxyPorts: [deaf.port] },
    });
    daemon = await Daemon.start(workspace, config);
    const ready = await daemon.logged(({ msg }) => msg === 'ready');
    [address, tunnelAddress] = [String(ready['address']), String(ready['tunnelAddress'])];
    client = createWinsClient({ address });
    await client.info();
    await daemon.logged(({ msg }) => msg === 'metrics are served');
    first = await scrape(metrics);
  });
  afterEach(async () => {
    const quiet = {
      'wins_runs{state="running"}': 0,
      wins_tunnel_sessions: 0,
      'wins_connections{pipe="tunnel"}': 0,
      'wins_connections{pipe="main"}': 1,
    };
    await scrapeUntil(metrics, (now) =>
      Object.entries(quiet).every(([series, value]) => now.get(series) === value),
    );
  });
  afterAll(async () => {
    await client.close();
    await daemon[Symbol.asyncDispose]();
    await deaf[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  /** Starts a program and reads only its first output; disposing stops the program. */
  async function run(tool: string): Promise<AsyncDisposable> {
    const name = await client.startProcess(startRequest(tool));
    const lease = client.keepAlive(name);
    const output = client.waitProcess(name)[Symbol.asyncIterator]();
    await output.next();
    return {
      [Symbol.asyncDispose]: async () => {
        await client.runs.stop(name, { force: true });
        await output.return?.();
        await lease.end();
      },
    };
  }

  async function sendToTheDeaf(): Promise<AsyncDisposable> {
    const tunnel = await openLibraryTunnel(tunnelAddress, 'sender');
    const stream = tunnel.connect(deaf.port).on('error', () => undefined);
    stream.write(Buffer.alloc(32 * MEBIBYTE));
    return {
      [Symbol.asyncDispose]: async () => {
        // Without this, the daemon would wait for `deaf` to read.
        for (const socket of deaf.openSockets) socket.destroy();
        stream.destroy();
        await tunnel.close();
      },
    };
  }

  /** Replaces the audit log's file and opens its folder to others. Then requests the start of a program, which the daemon refuses. */
  async function startUnrecorded(): Promise<AsyncDisposable> {
    const folder = path.join(workspace.runtimeDirectory, 'rancher_wins.audit');
    const file = path.join(folder, 'audit.00000001.jsonl');
    chmodSync(folder, 0o755);
    copyFileSync(file, `${file}.copy`);
    renameSync(`${file}.copy`, file);
    await expect(client.startProcess(startRequest(tools.sleeps))).rejects.toMatchObject({
      reason: 'auditUnavailable',
    });
    const skip = daemon.log.length;
    return {
      [Symbol.asyncDispose]: async () => {
        chmodSync(folder, 0o700);
        await daemon.logged(({ msg }) => msg === 'the audit log can be written', skip);
      },
    };
  }

  it('wins_heap_bytes has what is held for a reader that does not read', async () => {
    const external = 'wins_heap_bytes{space="external"}';
    await using _run = await run(tools.floods);
    const least = (first.get(external) ?? NaN) + MEBIBYTE;
    const now = await scrapeUntil(metrics, (each) => (each.get(external) ?? 0) > least);
    const [used = NaN, total = NaN] = ['used', 'total'].map((space) =>
      now.get(`wins_heap_bytes{space="${space}"}`),
    );
    expect(used).toBeGreaterThan(MEBIBYTE);
    expect(total).toBeGreaterThan(used);
  });

  it.each<
    [cause: string, action: () => Promise<AsyncDisposable>, moves: Readonly<Record<string, number>>]
  >([
    [
      'a reader that does not read the output of a run',
      () => run(tools.floods),
      {
        'wins_run_output_pauses_total{entry="floods.exe"}': SOME,
        'wins_run_output_bytes_total{entry="floods.exe",stream="stdout"}': SOME,
        'wins_run_starts_total{entry="floods.exe",result="started"}': 1,
      },
    ],
    [
      'a program that does not read what comes through the tunnel',
      sendToTheDeaf,
      {
        wins_tunnel_pauses_total: SOME,
        'wins_tunnel_bytes_total{direction="in"}': SOME,
        'wins_tunnel_connects_total{result="connected"}': 1,
      },
    ],
    [
      'an audit log that cannot be written',
      startUnrecorded,
      {
        wins_audit_records_lost_total: SOME,
        'wins_refusals_total{action="start",rule="auditUnavailable"}': 1,
        'wins_run_starts_total{entry="sleeps.exe",result="refused"}': 1,
      },
    ],
  ])('move by exactly what belongs to %s', async (_cause, action, moves) => {
    const before = await scrape(metrics);
    await using _trouble = await action();
    const moved = (now: Scrape) => unusual(growth(before, now));
    const now = await scrapeUntil(metrics, (each) =>
      Object.keys(moves).every((series) => series in moved(each)),
    );
    expect(moved(now)).toEqual(moves);
  });

  it('wins_audit_records_lost_total rests, and wins_audit_records_total moves, once the log can be written', async () => {
    const before = await scrape(metrics);
    await using _run = await run(tools.sleeps);
    const moved = growth(before, await scrape(metrics));
    expect(moved['wins_audit_records_total']).toBeGreaterThan(0);
    expect(moved['wins_audit_records_lost_total']).toBeUndefined();
  });

  it('wins_event_loop_stalls_total moves by one when the event loop stands still, and wins_event_loop_delay_seconds says how long', async () => {
    const before = await scrape(metrics);
    daemon.child.kill('SIGSTOP');
    await delay(STALL_MS);
    daemon.child.kill('SIGCONT');
    let longestSeconds = 0;
    const now = await scrapeUntil(metrics, (each) => {
      const seconds = each.get('wins_event_loop_delay_seconds{percentile="100"}') ?? 0;
      longestSeconds = Math.max(longestSeconds, seconds);
      return (
        each.get('wins_event_loop_stalls_total') !== before.get('wins_event_loop_stalls_total')
      );
    });
    expect(unusual(growth(before, now))).toEqual({ wins_event_loop_stalls_total: 1 });
    expect(before.get('wins_event_loop_delay_seconds{percentile="100"}')).toBeLessThan(1);
    expect(longestSeconds).toBeGreaterThan((0.9 * STALL_MS) / 1000);
  });

  it('wins_run_cpu_seconds_total moves for the run that computes, and not for one that sleeps', async () => {
    const cpu = (name: string) => `wins_run_cpu_seconds_total{entry="${name}"}`;
    await using _sleeper = await run(tools.sleeps);
    await using _computer = await run(tools.computes);
    const now = await scrapeUntil(metrics, (each) => (each.get(cpu('computes.exe')) ?? 0) >= 0.1);
    // Starting the program took some processor time, which the daemon may count late.
    expect(now.get(cpu('sleeps.exe'))).toBeLessThan(0.1);
  });

  it('wins_handles has a handle for each connection while it is open', async () => {
    const before = (await scrape(metrics)).get('wins_handles') ?? NaN;
    const clients = Array.from({ length: CONNECTIONS }, () => createWinsClient({ address }));
    await Promise.all(clients.map((each) => each.info()));
    const now = await scrape(metrics);
    expect(now.get('wins_connections{pipe="main"}')).toBe(CONNECTIONS + 1);
    expect(now.get('wins_handles')).toBeGreaterThanOrEqual(before + CONNECTIONS - 2);
    await Promise.all(clients.map((each) => each.close()));
    await scrapeUntil(metrics, (each) => (each.get('wins_handles') ?? NaN) < before + 5);
  });

  it('wins_build_info is 1 for the release that runs, and has moved by none of these', async () => {
    const { version, commit } = await client.info();
    const builds = (now: Scrape) => [...now].filter(([name]) => name.startsWith('wins_build_info'));
    const series = `wins_build_info{version="${version}",commit="${commit}"}`;
    expect(builds(await scrape(metrics))).toEqual([[series, 1]]);
    expect(builds(first)).toEqual([[series, 1]]);
  });
});
