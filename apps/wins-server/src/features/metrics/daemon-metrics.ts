import { METRICS } from './metric-table.js';
import type { MetricRegistry, Samples } from './metric-registry.js';
import { OTHER } from './bounded-labels.js';
import { COMMIT, VERSION } from '@wins/wins-program';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Decision } from '@wins/audit-log';
import type { ManagerEvent, ProcessExit } from '@wins/process-manager';
import type { DaemonEvent } from '../../kernel/daemon-events.js';
import type { MetricsSources } from './metrics-sources.js';
import { RunTotals } from '../runs/run-totals.js';

/** How long the delays of the event loop are kept at least. */
const DELAY_WINDOW_MS = 10_000;
/** The label of the threat model before the words of a rule. */
const RULE_LABEL = /^A\d+ /;
const CODES = METRICS.wins_calls_total.labels.code;
const CSI_STATES = METRICS.wins_csi_proxy_state.labels.state;
const RUN_STATES = METRICS.wins_runs.labels.state;

/** Turns what happens in the daemon, and what it is doing, into its metrics: the one place that does. Disposing ends it. */
export function keepMetrics(metrics: MetricRegistry, sources: MetricsSources): Disposable {
  const totals = new RunTotals();
  readStates(metrics, sources);
  readRuns(metrics, sources, totals);
  const delays = readDelays(metrics);
  const subscription = sources.events.subscribe(
    (event) => {
      countEvent(metrics, event);
      if (event.type === 'run' && event.event.type === 'ended') totals.ended(event.event);
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

function countEvent(metrics: MetricRegistry, event: DaemonEvent): void {
  switch (event.type) {
    case 'decided':
      countDecision(metrics, event.decision);
      return;
    case 'run':
      countRun(metrics, event.event);
      return;
    case 'call': {
      const { method, code, ms } = event;
      const name = code === undefined ? 'brokenOff' : (CODES[code] ?? OTHER);
      metrics.count('wins_calls_total', { method, code: name });
      metrics.observe('wins_call_duration_seconds', { method }, ms / 1000);
      return;
    }
    case 'connection':
      metrics.count('wins_connections_total', { pipe: event.pipe, outcome: event.phase });
      return;
    case 'tunnel':
      if (event.phase === 'ended')
        metrics.count('wins_tunnel_sessions_total', { reason: event.reason });
      return;
    case 'stream':
      if (event.phase !== 'cut')
        metrics.count('wins_tunnel_connects_total', { result: event.phase });
      return;
    case 'configReloaded':
      metrics.count('wins_config_reloads_total', { result: event.result });
      return;
    case 'upgrade':
      metrics.count('wins_upgrades_total', { outcome: event.outcome });
      return;
    case 'plan':
      metrics.count('wins_plan_applies_total', { result: event.succeeded ? 'applied' : 'failed' });
      return;
    case 'stall':
      metrics.count('wins_event_loop_stalls_total');
      return;
    // The first is rare, and the log tells it; the others are asked for at each scrape.
    case 'configLost':
    case 'planState':
    case 'probe':
    case 'csiProxy':
    case 'auditLost':
  }
}

function countDecision(
  metrics: MetricRegistry,
  { action, verdict, rule, code, entry = OTHER }: Decision,
): void {
  if (verdict !== 'refused') return;
  const reason = rule?.replace(RULE_LABEL, '') ?? code ?? OTHER;
  metrics.count('wins_refusals_total', { action, rule: reason });
  if (action === 'start') metrics.count('wins_run_starts_total', { entry, result: 'refused' });
  if (action === 'connect') metrics.count('wins_tunnel_connects_total', { result: 'refused' });
}

function countRun(metrics: MetricRegistry, event: ManagerEvent): void {
  if (event.type === 'started' || event.type === 'startFailed') {
    const result = event.type === 'started' ? 'started' : 'failed';
    metrics.count('wins_run_starts_total', { entry: event.entry, result });
  } else if (event.type === 'ended') {
    const { entry, exit } = event;
    metrics.count('wins_run_ends_total', { entry, reason: exit.reason });
    metrics.count('wins_run_exit_codes_total', { entry, class: classOf(exit) });
  }
}

function classOf({ code, signal }: ProcessExit): string {
  if (signal !== undefined) return 'signal';
  if (!Number.isInteger(code)) return 'unknown';
  return code === 0 ? 'zero' : 'nonzero';
}

function readStates(metrics: MetricRegistry, sources: MetricsSources): void {
  const { figures, auditCounts } = sources;
  const { tunnel } = figures;
  const one = (value: number): Samples => [[{}, value]];
  const nowMs = Date.now;
  metrics.read('wins_build_info', () => [[{ version: VERSION, commit: COMMIT }, 1]]);
  metrics.read('wins_connections', () => [
    [{ pipe: 'main' }, figures.connections],
    [{ pipe: 'tunnel' }, tunnel.connections],
  ]);
  metrics.read('wins_tunnel_sessions', () => one(tunnel.sessions));
  metrics.read('wins_tunnel_streams', () => one(tunnel.streams));
  metrics.read('wins_tunnel_bytes_total', () => {
    const { receivedBytes, sentBytes } = tunnel.traffic;
    return [
      [{ direction: 'in' }, receivedBytes],
      [{ direction: 'out' }, sentBytes],
    ];
  });
  metrics.read('wins_tunnel_pauses_total', () => one(tunnel.traffic.pauses));
  metrics.read('wins_config_age_seconds', () => one((nowMs() - sources.configReadAtMs()) / 1000));
  metrics.read('wins_plan_last_contact_seconds', () => {
    const at = sources.silentSince();
    return at === undefined ? [] : one((nowMs() - at.getTime()) / 1000);
  });
  metrics.read('wins_plan_probe_healthy', () => {
    // Of two plans with a probe of one name, the one that is not well is told.
    const healthy = new Map<string, boolean>();
    for (const probe of sources.probes())
      healthy.set(probe.name, probe.healthy && healthy.get(probe.name) !== false);
    return [...healthy].map(([probe, isHealthy]) => [{ probe }, Number(isHealthy)]);
  });
  metrics.read('wins_csi_proxy_state', () => {
    const now = sources.csiProxyState();
    return CSI_STATES.map((state) => [{ state }, Number(state === now)]);
  });
  metrics.read('wins_audit_records_total', () => one(auditCounts().written));
  metrics.read('wins_audit_records_lost_total', () => {
    const { lost, refused } = auditCounts();
    return one(lost + refused);
  });
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

function readRuns(metrics: MetricRegistry, sources: MetricsSources, totals: RunTotals): void {
  metrics.refresh(async () => totals.measured(await sources.measure()));
  metrics.read('wins_runs', () => {
    const counts = new Map<string, number>(RUN_STATES.map((state) => [state, 0]));
    for (const { state } of sources.runs())
      counts.set(state.kind, (counts.get(state.kind) ?? 0) + 1);
    return [...counts].map(([state, count]) => [{ state }, count]);
  });
  metrics.read('wins_run_output_bytes_total', () => totals.output());
  metrics.read('wins_run_output_pauses_total', () => totals.samples('pauses'));
  metrics.read('wins_run_cpu_seconds_total', () => totals.samples('cpuMs', 1000));
  metrics.read('wins_run_memory_bytes', () => totals.memory());
}

/** A timer of Node's own measures; what it has seen is forgotten now and then, so that one bad minute is not told for a year. */
function readDelays(metrics: MetricRegistry): Disposable {
  const resolutionMs = 20;
  const seen = monitorEventLoopDelay({ resolution: resolutionMs });
  let since = performance.now();
  seen.enable();
  metrics.read('wins_event_loop_delay_seconds', () => {
    const lateness = (ns: number): number => Math.max(0, ns / 1e9 - resolutionMs / 1000);
    const samples = [
      [{ quantile: '0.5' }, lateness(seen.percentile(50))],
      [{ quantile: '0.99' }, lateness(seen.percentile(99))],
      [{ quantile: '1' }, lateness(seen.max)],
    ] as const;
    if (performance.now() - since >= DELAY_WINDOW_MS) {
      seen.reset();
      since = performance.now();
    }
    return samples;
  });
  return { [Symbol.dispose]: () => void seen.disable() };
}
