import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { MetricRegistry } from './metric-registry.js';
import type { EntryName } from '@wins/process-manager';
import type { ServedMethod } from '../../kernel/rpc/call-server.js';
import { counter, gauge, typed, type MetricDefinition } from '../../kernel/metrics.js';
import { FEATURES } from '../features.js';
import { RUN_METRICS } from '../runs/run-metrics.js';
import { allMetrics, DAEMON_METRICS } from './metric-table.js';

type ProbeName = string & { readonly [planned]: true };
declare const planned: unique symbol;
const TABLE = {
  ...DAEMON_METRICS,
  ...RUN_METRICS,
  wins_plan_probe_healthy: gauge('Probes.', { probe: typed<ProbeName>('probes') }),
  wins_tunnel_sessions: gauge('Tunnels.'),
  wins_tunnel_streams: gauge('Streams.'),
  wins_upgrades_total: counter('Upgrades.', { outcome: ['upgraded'] }),
};

const series = (text: string): string[] =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
const seriesOf = async (metrics: MetricRegistry<typeof TABLE>, name: string): Promise<string[]> =>
  series(await metrics.text()).filter((line) => line.startsWith(name));

describe('the metrics', () => {
  it('count, measure and ask, in the text format of Prometheus', async () => {
    const metrics = new MetricRegistry(TABLE);
    metrics.count('wins_config_reloads_total', { result: 'applied' });
    metrics.count('wins_config_reloads_total', { result: 'applied' });
    metrics.count('wins_config_reloads_total', { result: 'applied' });
    const method = 'wins.HostService/GetVersion' as ServedMethod;
    metrics.observe('wins_call_duration_seconds', { method }, 0.05);
    metrics.read('wins_tunnel_sessions', () => [[{}, 3]]);
    const text = await metrics.text();
    expect(text).toContain('# TYPE wins_config_reloads_total counter\n');
    expect(text).toContain('wins_config_reloads_total{result="applied"} 3\n');
    expect(text).toContain('wins_config_reloads_total{result="rejected"} 0\n');
    const of = 'method="wins.HostService/GetVersion"';
    expect(text).toContain(`wins_call_duration_seconds_bucket{le="0.025",${of}} 0\n`);
    expect(text).toContain(`wins_call_duration_seconds_bucket{le="0.1",${of}} 1\n`);
    expect(text).toContain(`wins_call_duration_seconds_count{${of}} 1\n`);
    expect(text).toContain('wins_tunnel_sessions 3\n');
  });

  it('are collected once at a time, however slow what they ask is', async () => {
    const metrics = new MetricRegistry(TABLE);
    let [asked, most] = [0, 0];
    const begun = new EventEmitter();
    metrics.refresh(async () => {
      most = Math.max(most, (asked += 1));
      begun.emit('refresh');
      // Longer than the rest between two collections.
      await delay(150);
      asked -= 1;
    });
    const refreshed = once(begun, 'refresh');
    const first = metrics.text();
    await refreshed;
    await Promise.all([first, metrics.text(), metrics.text()]);
    expect(most).toBe(1);
  });

  it('begin at zero with each value of a fixed list, and with those of another list once they are known', async () => {
    const metrics = new MetricRegistry(TABLE);
    expect(await seriesOf(metrics, 'wins_config_reloads_total')).toHaveLength(4);
    const starts = 'wins_run_starts_total';
    expect(await seriesOf(metrics, starts)).toEqual([]);
    metrics.count(starts, { entry: 'a' as EntryName, result: 'failed' });
    metrics.begin(starts, { entry: 'a' as EntryName });
    metrics.begin(starts, { entry: 'other', result: 'refused' });
    expect((await seriesOf(metrics, starts)).sort()).toEqual([
      'wins_run_starts_total{entry="a",result="failed"} 1',
      'wins_run_starts_total{entry="a",result="refused"} 0',
      'wins_run_starts_total{entry="a",result="started"} 0',
      'wins_run_starts_total{entry="other",result="refused"} 0',
    ]);
  });

  it('ask for states at each scrape, and forget those that have gone', async () => {
    const metrics = new MetricRegistry(TABLE);
    const [kubelet, etcd] = ['kubelet', 'etcd'] as ProbeName[] as [ProbeName, ProbeName];
    let probes: readonly (readonly [ProbeName, number])[] = [
      [kubelet, 1],
      [etcd, 0],
    ];
    metrics.read('wins_plan_probe_healthy', () =>
      probes.map(([probe, value]) => [{ probe }, value] as const),
    );
    expect(await seriesOf(metrics, 'wins_plan_probe_healthy')).toHaveLength(2);
    probes = [[kubelet, 0]];
    expect(await seriesOf(metrics, 'wins_plan_probe_healthy')).toEqual([
      'wins_plan_probe_healthy{probe="kubelet"} 0',
    ]);
    probes = [];
    expect(await seriesOf(metrics, 'wins_plan_probe_healthy')).toEqual([]);
  });

  it('leave out what cannot be told, and tell the rest', async () => {
    const metrics = new MetricRegistry(TABLE);
    metrics.read('wins_heap_bytes', () => {
      throw new Error('no');
    });
    metrics.read('wins_handles', () => [[{}, NaN]]);
    metrics.read('wins_tunnel_streams', () => [[{}, 7]]);
    const told = series(await metrics.text());
    expect(told.filter((line) => /^wins_(heap|handles)/.test(line))).toEqual([]);
    expect(told).toContain('wins_tunnel_streams 7');
  });

  it('add what has the same labels', async () => {
    const metrics = new MetricRegistry(TABLE);
    metrics.read('wins_heap_bytes', () => [
      [{ space: 'used' }, 1],
      [{ space: 'used' }, 2],
    ]);
    expect(await seriesOf(metrics, 'wins_heap_bytes')).toEqual(['wins_heap_bytes{space="used"} 3']);
  });

  it('get no line, label or closing quote from a name that an operator chose', async () => {
    const metrics = new MetricRegistry(TABLE);
    const entries = ['a"} 1\nwins_forged 1\n#', 'b\\', 'c",rule="x'] as EntryName[];
    for (const entry of entries)
      metrics.count('wins_run_starts_total', { entry, result: 'started' });
    const lines = await seriesOf(metrics, 'wins_run_starts_total');
    expect(lines).toHaveLength(entries.length);
    for (const line of lines)
      expect(line).toMatch(
        /^wins_run_starts_total\{entry="(?:[^"\\\n]|\\.)*",result="started"\} 1$/,
      );
    expect(series(await metrics.text()).some((line) => line.startsWith('wins_forged'))).toBe(false);
  });

  it('take no text of a client: the compiler refuses it', () => {
    const metrics = new MetricRegistry(TABLE);
    const text = ['of', 'a client'].join(' ');
    const never = (): void => {
      // @ts-expect-error -- Only the code defines rules.
      metrics.count('wins_refusals_total', { action: 'start', rule: text });
      // @ts-expect-error -- Only the code defines actions.
      metrics.count('wins_refusals_total', { action: text, rule: 'not listed' });
      // @ts-expect-error -- An entry is a name from the config (EntryName), not any text.
      metrics.count('wins_run_starts_total', { entry: text, result: 'started' });
      // @ts-expect-error -- Only served methods have metrics.
      metrics.observe('wins_call_duration_seconds', { method: text }, 1);
      // @ts-expect-error -- Only a plan defines probes.
      metrics.read('wins_plan_probe_healthy', () => [[{ probe: text }, 1]]);
      // @ts-expect-error -- The label without a fixed list is missing.
      metrics.begin('wins_run_starts_total', { result: 'started' });
      // @ts-expect-error -- The label is missing.
      metrics.count('wins_upgrades_total', {});
    };
    expect(never).toBeInstanceOf(Function);
  });

  it('are collected once for simultaneous requests, after the last of them has arrived', async () => {
    const metrics = new MetricRegistry(TABLE);
    let collections = 0;
    let before = 0;
    metrics.refresh(async () => {
      before += 1;
      await Promise.resolve();
    });
    metrics.read('wins_tunnel_sessions', () => {
      collections += 1;
      return [[{}, collections]];
    });
    const texts = await Promise.all(Array.from({ length: 1000 }, () => metrics.text()));
    expect(new Set(texts).size).toBe(1);
    expect([collections, before]).toEqual([1, 1]);
    expect(await metrics.text()).toContain('wins_tunnel_sessions 2\n');
  });
});

describe('the table of metrics', () => {
  const entries: [string, MetricDefinition][] = Object.entries(allMetrics(FEATURES));

  it.each(entries)('has %s in the manner of Prometheus', (name, { type, help }) => {
    expect(name).toMatch(/^(?:wins|process)(?:_[a-z]+)+$/);
    expect(help).toMatch(/^[A-Z0-9].*\.$/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
  });
});
