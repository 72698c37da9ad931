import { freeBytes } from '../../free-bytes.js';
import { auditDirectoryOf } from '../../kept-directory.js';
import { ruleWords, type Decision } from '../../kernel/audit/decision.js';
import type { Metrics, Samples } from '../../kernel/metrics.js';
import { CODE, type BuildText, type DAEMON_METRICS, type FeatureName } from './metric-table.js';
import { COMMIT, VERSION } from '@wins/base';
import { START_RULES } from '@wins/process-manager';
import { REFUSAL_RULES } from '@wins/tcp-tunnel';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { DaemonEvent } from '../../kernel/daemon-events.js';
import type { Kernel } from '../../kernel/feature.js';

/** Refusals that are counted from zero at the daemon's start, so that the first one shows as an increase. */
const USUAL_REFUSALS = {
  start: [
    ...START_RULES,
    'A7 writable by other users',
    'A7 symbolic link',
    'alreadyRunning',
    'notExecutable',
    'notFound',
    'auditUnavailable',
  ],
  connect: REFUSAL_RULES,
} as const;

/** The first scrape after this time resets the event-loop delays. */
const DELAY_WINDOW_MS = 10_000;

type DaemonMetrics = Metrics<typeof DAEMON_METRICS>;

/** Registers the metrics of the kernel and of all features. Disposal stops the counting. */
export function keepMetrics(metrics: DaemonMetrics, kernel: Kernel): Disposable {
  for (const action of ['start', 'connect'] as const)
    for (const rule of USUAL_REFUSALS[action])
      metrics.begin('wins_refusals_total', { action, rule: ruleWords(rule) });
  readStates(metrics, kernel);
  const delays = readDelays(metrics);
  const counters = kernel
    .features()
    .flatMap(({ feature, view }) => feature.metrics?.register(metrics, view, kernel) ?? []);
  const subscription = kernel.events.subscribe(
    (event) => {
      countEvent(metrics, event);
      for (const count of counters) count(event);
    },
    { routine: true },
  );
  return {
    [Symbol.dispose]: () => {
      subscription[Symbol.dispose]();
      delays[Symbol.dispose]();
    },
  };
}

function countEvent(metrics: DaemonMetrics, event: DaemonEvent): void {
  if (event.type === 'decided') countRefusal(metrics, event.decision);
  else if (event.type === 'call') {
    const { method, code, ms } = event;
    const name = code === undefined ? 'brokenOff' : (CODE[code] ?? 'UNKNOWN');
    metrics.count('wins_calls_total', { method, code: name });
    metrics.observe('wins_call_duration_seconds', { method }, ms / 1000);
  } else if (event.type === 'connection')
    metrics.count('wins_connections_total', { pipe: event.pipe, outcome: event.phase });
  else if (event.type === 'configReloaded')
    metrics.count('wins_config_reloads_total', { result: event.result });
  else if (event.type === 'stall') metrics.count('wins_event_loop_stalls_total');
}

function countRefusal(metrics: DaemonMetrics, decision: Decision): void {
  if (decision.verdict !== 'refused') return;
  const { action, rule, code = 'unknown' } = decision;
  metrics.count('wins_refusals_total', {
    action,
    rule: rule === undefined ? code : ruleWords(rule),
  });
}

function readStates(metrics: DaemonMetrics, kernel: Kernel): void {
  const { audit, config, stateDirectory } = kernel;
  const one = (value: number) => [[{}, value]] as const;
  const build = { version: VERSION as BuildText, commit: COMMIT as BuildText };
  metrics.read('wins_build_info', () => [[build, 1]]);
  metrics.read('wins_conditions', () => {
    const seen = kernel.conditions();
    return kernel.features().flatMap(({ feature: { name } }) =>
      (['warning', 'problem'] as const).map((level) => {
        const count = seen.filter((one) => one.source === name && one.level === level).length;
        return [{ feature: name as FeatureName, level }, count] as const;
      }),
    );
  });
  metrics.read('wins_config_age_seconds', () => one(config.ageMs() / 1000));
  metrics.read('wins_audit_records_total', () => one(audit.counts.written));
  metrics.read('wins_audit_records_lost_total', () => {
    const { lost, refused } = audit.counts;
    return one(lost + refused);
  });
  let free: Samples<typeof DAEMON_METRICS, 'wins_disk_free_bytes'> = [];
  metrics.refresh(async () => {
    const folders = [
      ['state', stateDirectory],
      ['audit', auditDirectoryOf(config.inForce().config)],
    ] as const;
    const asked = folders.map(async ([folder, at]) => {
      const bytes = await freeBytes(at).catch(() => NaN);
      return [{ folder }, bytes] as const;
    });
    free = await Promise.all(asked);
  });
  metrics.read('wins_disk_free_bytes', () => free);
  metrics.read('wins_heap_bytes', () => {
    const { heapUsed, heapTotal, external } = process.memoryUsage();
    return [
      [{ space: 'used' }, heapUsed],
      [{ space: 'total' }, heapTotal],
      [{ space: 'external' }, external],
    ];
  });
  metrics.read('wins_handles', () => one(process.getActiveResourcesInfo().length));
  metrics.read('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage();
    return one((user + system) / 1e6);
  });
  metrics.read('process_resident_memory_bytes', () => one(process.memoryUsage.rss()));
  metrics.read('process_start_time_seconds', () => one(performance.timeOrigin / 1000));
}

/** Resets Node's histogram regularly, so that one bad minute is not reported for a year. */
function readDelays(metrics: DaemonMetrics): Disposable {
  const resolutionMs = 20;
  const seen = monitorEventLoopDelay({ resolution: resolutionMs });
  let since = performance.now();
  seen.enable();
  metrics.read('wins_event_loop_delay_seconds', () => {
    const lateness = (ns: number): number => Math.max(0, ns / 1e9 - resolutionMs / 1000);
    const samples = [
      [{ percentile: '50' }, lateness(seen.percentile(50))],
      [{ percentile: '99' }, lateness(seen.percentile(99))],
      [{ percentile: '100' }, lateness(seen.max)],
    ] as const;
    if (performance.now() - since >= DELAY_WINDOW_MS) {
      seen.reset();
      since = performance.now();
    }
    return samples;
  });
  return { [Symbol.dispose]: () => void seen.disable() };
}
