import { MetricRegistry } from './metric-registry.js';
import { createProcessManager } from '@wins/process-manager';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DaemonEvents, type DaemonEvent } from '../../kernel/daemon-events.js';
import type { ServedMethod } from '../../kernel/rpc/call-server.js';
import type { FeatureOfDaemon } from '../../kernel/feature.js';
import { posixProcessHost } from '../../posix.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { FEATURES } from '../features.js';
import { keepMetrics } from './daemon-metrics.js';
import { allMetrics } from './metric-table.js';

class QuietDaemon implements Disposable {
  readonly events = new DaemonEvents((error) => {
    throw error;
  });
  readonly metrics = new MetricRegistry(allMetrics(FEATURES));
  readonly #kept: Disposable;

  constructor(
    running: Readonly<Record<string, object>> = {},
    allowed: readonly { readonly path: string }[] = [],
  ) {
    const traffic = { receivedBytes: 0, sentBytes: 0, pauses: 0, droppedDatagrams: 0 };
    const figures = { connections: 0, sessions: 0, streams: 0, flows: 0, traffic };
    const manager = {
      list: () => [],
      measure: () => Promise.resolve({ takenAtMs: 0, runs: [] }),
    };
    const all: Readonly<Record<string, object>> = {
      runs: { manager },
      tunnel: { figures },
      ...running,
    };
    this.#kept = keepMetrics(
      this.metrics,
      kernelOf({
        events: this.events,
        pipe: { connections: { size: 0 } },
        audit: { counts: { written: 7, lost: 2, refused: 3 } },
        config: {
          ageMs: () => 0,
          inForce: () => ({ config: { listen: 'main', audit: { directory: '/' } } }),
        },
        stateDirectory: '/',
        features: () =>
          FEATURES.map((feature) => {
            const found = all[feature.name];
            const view = { running: found, settings: { allowed }, require: () => found };
            return { feature, view } as FeatureOfDaemon;
          }),
      }),
    );
  }

  async samples(): Promise<ReadonlyMap<string, number>> {
    const lines = (await this.metrics.text()).split('\n');
    return new Map(
      lines
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => {
          const end = line.lastIndexOf(' ');
          return [line.slice(0, end), Number(line.slice(end + 1))];
        }),
    );
  }

  [Symbol.dispose](): void {
    this.#kept[Symbol.dispose]();
  }
}

const usage = { cpuMs: 1500, memoryBytes: 0, processes: 0 };
const output = { stdoutBytes: 10, stderrBytes: 2, pauses: 3 };
const ended = (entry: string, exit: object): DaemonEvent =>
  ({
    type: 'run',
    event: {
      type: 'ended',
      mark: 'm',
      name: 'n',
      path: `/opt/${entry}`,
      entry,
      exit,
      figures: { usage, output },
    },
  }) as DaemonEvent;
const SERVED = 'wins.HostService/GetVersion' as ServedMethod;
const decided = (decision: object): DaemonEvent =>
  ({ type: 'decided', decision: { requester: 'pipe:1', ...decision } }) as DaemonEvent;

describe('the metrics of the daemon', () => {
  it.each<[string, DaemonEvent, Readonly<Record<string, number>>]>([
    [
      'a call',
      { type: 'call', method: SERVED, code: 0, ms: 3 },
      {
        'wins_calls_total{method="wins.HostService/GetVersion",code="OK"}': 1,
        'wins_call_duration_seconds_bucket{le="0.005",method="wins.HostService/GetVersion"}': 1,
      },
    ],
    [
      'a call that is broken off',
      { type: 'call', method: 'unknown', code: undefined, ms: 3 },
      { 'wins_calls_total{method="unknown",code="brokenOff"}': 1 },
    ],
    [
      'a connection that makes room',
      { type: 'connection', pipe: 'tunnel', phase: 'refused', rule: 'full' },
      { 'wins_connections_total{pipe="tunnel",outcome="refused"}': 1 },
    ],
    [
      'a start that is refused, of a listed program',
      decided({
        action: 'start',
        verdict: 'refused',
        rule: 'A15 not listed',
        entry: 'exporter.exe',
      }),
      {
        'wins_refusals_total{action="start",rule="not listed"}': 1,
        'wins_run_starts_total{entry="exporter.exe",result="refused"}': 1,
      },
    ],
    [
      'a refusal without a rule',
      decided({ action: 'wait', verdict: 'refused', code: 'notFound' }),
      { 'wins_refusals_total{action="wait",rule="notFound"}': 1 },
    ],
    [
      'the end of a run',
      ended('collect', { code: 0, reason: 'exited' }),
      {
        'wins_run_ends_total{entry="collect",reason="exited"}': 1,
        'wins_run_exit_codes_total{entry="collect",class="zero"}': 1,
        'wins_run_cpu_seconds_total{entry="collect"}': 1.5,
        'wins_run_output_bytes_total{entry="collect",stream="stderr"}': 2,
        'wins_run_output_pauses_total{entry="collect"}': 3,
      },
    ],
    [
      'the end of a tunnel',
      { type: 'tunnel', phase: 'ended', session: 'tunnel:1', reason: 'failed' },
      { 'wins_tunnel_sessions_total{reason="failed"}': 1 },
    ],
    [
      'an upgrade',
      { type: 'kept', event: 'upgrade', facts: { outcome: 'rolledBack', reason: 'x' } },
      { 'wins_upgrades_total{outcome="rolledBack"}': 1 },
    ],
    [
      'an upgrade whose record was changed',
      { type: 'kept', event: 'upgrade', facts: { outcome: 'whatever\n1', reason: 'x' } },
      { 'wins_upgrades_total{outcome="other"}': 1 },
    ],
    [
      'a pass that fails',
      { type: 'kept', event: 'plan', facts: { succeeded: false } },
      { 'wins_plan_applies_total{result="failed"}': 1 },
    ],
    ['a stall', { type: 'stall', lateMs: 1500 }, { wins_event_loop_stalls_total: 1 }],
  ])('count %s', async (_what, event, expected) => {
    using daemon = new QuietDaemon();
    const before = await daemon.samples();
    for (const series of Object.keys(expected)) expect(before.get(series) ?? 0).toBe(0);
    daemon.events.publish(event);
    const after = await daemon.samples();
    for (const [series, value] of Object.entries(expected))
      expect([series, after.get(series)]).toEqual([series, value]);
    daemon[Symbol.dispose]();
    daemon.events.publish(event);
    const last = await daemon.samples();
    for (const series of Object.keys(expected)) expect(last.get(series)).toBe(after.get(series));
  });

  it('count from zero for each listed program, whatever happens to it first', async () => {
    using daemon = new QuietDaemon({}, [{ path: '/opt/exporter.exe' }]);
    const told = await daemon.samples();
    const begun = [...told].filter(([series]) => series.includes('{entry="exporter.exe"'));
    expect(begun.map(([series]) => series.replace('entry="exporter.exe"', '')).sort()).toEqual([
      'wins_run_cpu_seconds_total{}',
      'wins_run_ends_total{,reason="daemonStopping"}',
      'wins_run_ends_total{,reason="exited"}',
      'wins_run_ends_total{,reason="hostFailed"}',
      'wins_run_ends_total{,reason="leaseEnded"}',
      'wins_run_ends_total{,reason="leaseNeverHeld"}',
      'wins_run_ends_total{,reason="outOfMemory"}',
      'wins_run_ends_total{,reason="ownerDisconnected"}',
      'wins_run_ends_total{,reason="replaced"}',
      'wins_run_ends_total{,reason="stopped"}',
      'wins_run_ends_total{,reason="yielded"}',
      'wins_run_exit_codes_total{,class="nonzero"}',
      'wins_run_exit_codes_total{,class="signal"}',
      'wins_run_exit_codes_total{,class="unknown"}',
      'wins_run_exit_codes_total{,class="zero"}',
      'wins_run_output_bytes_total{,stream="stderr"}',
      'wins_run_output_bytes_total{,stream="stdout"}',
      'wins_run_output_pauses_total{}',
      'wins_run_restarts_total{}',
      'wins_run_starts_total{,result="failed"}',
      'wins_run_starts_total{,result="refused"}',
      'wins_run_starts_total{,result="started"}',
    ]);
    expect(begun.filter(([, value]) => value !== 0)).toEqual([]);
    expect(told.get('wins_run_starts_total{entry="other",result="refused"}')).toBe(0);
    expect(told.get('wins_refusals_total{action="connect",rule="port-not-listed"}')).toBe(0);
    expect(told.get('wins_refusals_total{action="start",rule="request too large"}')).toBe(0);
  });

  it('tell of which program the detached runs gave up', async () => {
    const run = (entry: string, next: object) => ({
      label: 'a',
      end: {},
      plan: { next },
      facts: { run: { entry } },
    });
    const gaveUp = { kind: 'gaveUp' };
    const kept = [run('a.exe', gaveUp), run('a.exe', gaveUp), run('b.exe', { kind: 'again' })];
    using daemon = new QuietDaemon({ detached: { runs: { all: () => kept } } });
    const told = await daemon.samples();
    expect([...told].filter(([series]) => series.startsWith('wins_detached_runs'))).toEqual([
      ['wins_detached_runs{entry="a.exe",state="gaveUp"}', 2],
      ['wins_detached_runs{entry="b.exe",state="waiting"}', 1],
    ]);
  });

  it('tell states as they are at each scrape', async () => {
    let state: 'fetching' | undefined = 'fetching';
    let silentMs: number | undefined = 5000;
    const probe = (healthy: boolean) => ({ healthy, successCount: 0, failureCount: 0 });
    const plans = [
      { probes: { kubelet: probe(true), etcd: probe(false) } },
      { probes: { etcd: probe(true) } },
    ];
    using daemon = new QuietDaemon({
      'csi-proxy': {
        get kept() {
          return { status: { state } };
        },
      },
      agent: { status: () => ({ silentMs, plans }) },
    });
    const told = await daemon.samples();
    expect(told.get('wins_csi_proxy_state{state="fetching"}')).toBe(1);
    expect(told.get('wins_csi_proxy_state{state="serving"}')).toBe(0);
    expect(told.get('wins_plan_last_contact_seconds')).toBe(5);
    expect(told.get('wins_audit_records_total')).toBe(7);
    expect(told.get('wins_audit_records_lost_total')).toBe(5);
    expect(told.get('wins_plan_probe_healthy{probe="kubelet"}')).toBe(1);
    expect(told.get('wins_plan_probe_healthy{probe="etcd"}')).toBe(0);
    [state, silentMs] = [undefined, undefined];
    const later = await daemon.samples();
    expect(later.get('wins_csi_proxy_state{state="fetching"}')).toBe(0);
    expect(later.has('wins_plan_last_contact_seconds')).toBe(false);
  });

  it('stay below 500 series after 10,000 clients, paths and refusals (A92)', async () => {
    using daemon = new QuietDaemon();
    for (let index = 0; index < 10_000; index += 1) {
      const path = `/tmp/${index}/tool-${index}"} 1\nwins_forged{a="`;
      const who = { requester: `pipe:${index}`, client: { container: `c${index}` } };
      const refusal = { action: 'start', verdict: 'refused', rule: 'A15 not listed', path };
      daemon.events.publish(decided({ ...refusal, ...who }));
      const address = `host-${index}:${index}`;
      const port = { action: 'connect', verdict: 'refused', rule: 'host-loopback', address };
      daemon.events.publish(decided({ ...port, ...who }));
      daemon.events.publish({ type: 'call', method: 'unknown', code: index % 20, ms: index });
    }
    const told = await daemon.samples();
    expect(told.size).toBeLessThan(500);
    expect(told.get('wins_refusals_total{action="start",rule="not listed"}')).toBe(10_000);
    expect(told.get('wins_run_starts_total{entry="other",result="refused"}')).toBe(10_000);
    expect([...told.keys()].filter((series) => series.includes('forged'))).toEqual([]);
  });

  it('name the entry however the config and the client spell its path', async () => {
    using daemon = new QuietDaemon();
    const folder = mkdtempSync(path.join(tmpdir(), 'wins-metrics-'));
    try {
      await using manager = createProcessManager({
        allowed: [{ path: 'c:/Tools/Exporter.exe', args: [[]] }],
        stateDirectory: path.join(folder, 'state'),
        host: {
          ...posixProcessHost(),
          dialect: 'windows',
          ensurePrivateDirectory: () => undefined,
        },
        onDecision: (decision) => daemon.events.publish({ type: 'decided', decision }),
      });
      const owner = { id: 'pipe:1', disconnected: new AbortController().signal };
      const start = { path: 'C:\\tools\\EXPORTER.EXE', args: ['no'], envs: [], owner };
      await expect(manager.start(start)).rejects.toMatchObject({ code: 'argumentsNotAllowed' });
    } finally {
      rmSync(folder, { recursive: true });
    }
    const told = await daemon.samples();
    expect(told.get('wins_run_starts_total{entry="Exporter.exe",result="refused"}')).toBe(1);
  });

  it('of a run go on when it has ended, and are not told twice', async () => {
    const state = { kind: 'running' } as { kind: 'running' | 'ended' };
    const run = { entry: 'exporter.exe', state } as never;
    const figures = { usage: { ...usage, memoryBytes: 4096 }, output };
    const manager = {
      list: () => [],
      measure: () => Promise.resolve({ takenAtMs: 0, runs: [{ run, figures }] }),
    };
    using daemon = new QuietDaemon({ runs: { manager } });
    const cpu = 'wins_run_cpu_seconds_total{entry="exporter.exe"}';
    const memory = 'wins_run_memory_bytes{entry="exporter.exe"}';
    const first = await daemon.samples();
    expect([first.get(cpu), first.get(memory)]).toEqual([1.5, 4096]);
    // Between the run's end and its event the counter must not decrease, or Prometheus would see a restart.
    state.kind = 'ended';
    expect((await daemon.samples()).get(cpu)).toBe(1.5);
    daemon.events.publish(ended('exporter.exe', { code: 0, reason: 'exited' }));
    const last = await daemon.samples();
    expect([last.get(cpu), last.get(memory)]).toEqual([1.5, undefined]);
  });
});
