import { MetricRegistry } from './metric-registry.js';
import { METRICS, mostSeriesOf, type MetricDefinition } from './metric-table.js';

const series = (text: string): string[] =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
const seriesOf = async (metrics: MetricRegistry, name: string): Promise<string[]> =>
  series(await metrics.text()).filter((line) => line.startsWith(name));

describe('the metrics', () => {
  it('count, measure and ask, in the text format of Prometheus', async () => {
    const metrics = new MetricRegistry();
    metrics.count('wins_config_reloads_total', { result: 'applied' });
    metrics.count('wins_config_reloads_total', { result: 'applied' }, 2);
    metrics.observe('wins_call_duration_seconds', { method: 'wins.HostService/GetVersion' }, 0.05);
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

  it('ask for states at each scrape, and forget those that have gone', async () => {
    const metrics = new MetricRegistry();
    let probes: readonly (readonly [string, number])[] = [
      ['kubelet', 1],
      ['etcd', 0],
    ];
    metrics.read('wins_plan_probe_healthy', () =>
      probes.map(([probe, value]) => [{ probe }, value] as const),
    );
    expect(await seriesOf(metrics, 'wins_plan_probe_healthy')).toHaveLength(2);
    probes = [['kubelet', 0]];
    expect(await seriesOf(metrics, 'wins_plan_probe_healthy')).toEqual([
      'wins_plan_probe_healthy{probe="kubelet"} 0',
    ]);
    probes = [];
    expect(await seriesOf(metrics, 'wins_plan_probe_healthy')).toEqual([]);
  });

  it('leave out what cannot be told, and tell the rest', async () => {
    const metrics = new MetricRegistry();
    metrics.read('wins_heap_bytes', () => {
      throw new Error('no');
    });
    metrics.read('wins_handles', () => [[{}, NaN]]);
    metrics.read('wins_tunnel_streams', () => [[{}, 7]]);
    const told = series(await metrics.text());
    expect(told.filter((line) => /^wins_(heap|handles)/.test(line))).toEqual([]);
    expect(told).toContain('wins_tunnel_streams 7');
  });

  it('stay few when 10,000 values come for every label that a client can fill', async () => {
    const metrics = new MetricRegistry();
    for (let index = 0; index < 10_000; index += 1) {
      const [entry, rule, action] = [`tool-${index}.exe`, `rule ${index}`, `act ${index % 100}`];
      metrics.count('wins_refusals_total', { action, rule });
      metrics.count('wins_run_starts_total', { entry, result: 'started' });
      metrics.count('wins_run_ends_total', { entry, reason: rule });
    }
    for (const name of ['wins_refusals_total', 'wins_run_starts_total', 'wins_run_ends_total']) {
      const lines = await seriesOf(metrics, `${name}{`);
      expect(lines.length).toBeLessThanOrEqual(mostSeriesOf(METRICS[name as 'wins_runs']));
      const sum = lines.reduce((all, line) => all + Number(line.split(' ').at(-1)), 0);
      // Nothing is lost: what has no series of its own is one of the others.
      expect(sum).toBe(10_000);
    }
  });

  it('take no line, label or end of a quote from a value', async () => {
    const metrics = new MetricRegistry();
    const values = [
      'a"} 1\nwins_forged 1\n#',
      'b\\',
      'c",rule="x',
      'd\u202e\u0000',
      'x'.repeat(999),
    ];
    for (const action of values) metrics.count('wins_refusals_total', { action, rule: 'r' });
    const lines = await seriesOf(metrics, 'wins_refusals_total');
    expect(lines).toHaveLength(values.length);
    for (const line of lines)
      expect(line).toMatch(/^wins_refusals_total\{action="(?:[^"\\\n]|\\.)*",rule="r"\} 1$/);
    expect(series(await metrics.text()).some((line) => line.startsWith('wins_forged'))).toBe(false);
  });

  it('take a value that a list does not have as another one, and a label that is missing', async () => {
    const metrics = new MetricRegistry();
    metrics.count('wins_upgrades_total', { outcome: 'bogus' });
    metrics.count('wins_upgrades_total', {});
    expect(await seriesOf(metrics, 'wins_upgrades_total{outcome="other"')).toEqual([
      'wins_upgrades_total{outcome="other"} 2',
    ]);
  });

  it('have one series of all others, and a value of that name is one of them', async () => {
    const metrics = new MetricRegistry();
    const most = mostSeriesOf(METRICS.wins_plan_probe_healthy);
    const names = ['other', ...Array.from({ length: most + 1 }, (_, index) => `probe-${index}`)];
    metrics.read('wins_plan_probe_healthy', () => names.map((probe) => [{ probe }, 1] as const));
    const lines = await seriesOf(metrics, 'wins_plan_probe_healthy');
    expect(lines).toHaveLength(most);
    expect(lines).toContain('wins_plan_probe_healthy{probe="other"} 3');
  });

  it('are collected once for all who ask at the same time, after they have asked', async () => {
    const metrics = new MetricRegistry();
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
  const entries = Object.entries(METRICS) as [string, MetricDefinition][];

  it.each(entries)('has %s in the manner of Prometheus', (name, { type, help }) => {
    expect(name).toMatch(/^(?:wins|process)(?:_[a-z]+)+$/);
    expect(help).toMatch(/^[A-Z0-9].*\.$/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
  });

  it('bounds the series of all of them together, and more closely those that need no program or probe of the config', () => {
    const mostOf = (some: typeof entries): number =>
      some.reduce((sum, [, definition]) => {
        const each = definition.type === 'histogram' ? 9 : 1;
        return sum + each * mostSeriesOf(definition);
      }, 0);
    const ofConfig = (labels: object): boolean => 'entry' in labels || 'probe' in labels;
    expect(mostOf(entries.filter(([, { labels }]) => !ofConfig(labels)))).toBeLessThan(350);
    expect(mostOf(entries)).toBeLessThan(800);
  });
});
