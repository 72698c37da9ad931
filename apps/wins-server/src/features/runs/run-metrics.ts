import type { Decision } from '../../kernel/audit/decision.js';
import { NO_ENTRY } from '../metrics/metric-table.js';
import type { MetricRegistry } from '../metrics/metric-registry.js';
import type {
  EntryName,
  ManagerEvent,
  ProcessExit,
  ProcessManager,
  ProcessState,
} from '@wins/process-manager';
import type { DaemonEvent } from '../../kernel/daemon-events.js';
import { RunTotals } from './run-totals.js';

const STATES = ['running', 'stopping', 'killing', 'draining', 'ended'] as const;

/** Registers the metrics of runs. @returns A function that counts an event. */
export function runMetrics(
  metrics: MetricRegistry,
  manager: () => Pick<ProcessManager, 'list' | 'measure'>,
  entries: () => readonly EntryName[],
): (event: DaemonEvent) => void {
  const totals = new RunTotals();
  // Creates the series of each entry in advance, so that its first run shows as an increase.
  metrics.refresh(() => {
    for (const entry of entries()) beginEntry(metrics, entry);
    return Promise.resolve();
  });
  metrics.refresh(async () => totals.measured(await manager().measure()));
  metrics.read('wins_runs', () => {
    const counts = new Map<ProcessState['kind'], number>(STATES.map((state) => [state, 0]));
    for (const { state } of manager().list())
      counts.set(state.kind, (counts.get(state.kind) ?? 0) + 1);
    return [...counts].map(([state, count]) => [{ state }, count]);
  });
  metrics.read('wins_run_output_bytes_total', () => totals.output());
  metrics.read('wins_run_output_pauses_total', () => totals.samples('pauses'));
  metrics.read('wins_run_cpu_seconds_total', () => totals.samples('cpuMs', 1000));
  metrics.read('wins_run_memory_bytes', () => totals.memory());
  return (event) => {
    if (event.type === 'decided') countRefusal(metrics, event.decision);
    else if (event.type === 'run') {
      countRun(metrics, event.event);
      if (event.event.type === 'ended') totals.ended(event.event);
    }
  };
}

function beginEntry(metrics: MetricRegistry, entry: EntryName): void {
  for (const result of ['started', 'refused', 'failed'] as const)
    metrics.begin('wins_run_starts_total', { entry, result });
  metrics.begin('wins_run_ends_total', { entry, reason: 'exited' });
  metrics.begin('wins_run_restarts_total', { entry });
  for (const each of ['zero', 'nonzero', 'signal'] as const)
    metrics.begin('wins_run_exit_codes_total', { entry, class: each });
}

function countRefusal(metrics: MetricRegistry, { action, verdict, entry }: Decision): void {
  if (action === 'start' && verdict === 'refused')
    metrics.count('wins_run_starts_total', { entry: entry ?? NO_ENTRY, result: 'refused' });
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

function classOf({ code, signal }: ProcessExit): 'zero' | 'nonzero' | 'signal' | 'unknown' {
  if (signal !== undefined) return 'signal';
  if (!Number.isInteger(code)) return 'unknown';
  return code === 0 ? 'zero' : 'nonzero';
}
