import {
  EXIT_REASONS,
  type EntryName,
  type ManagerEvent,
  type Measurement,
  type ProcessExit,
  type ProcessManager,
  type ProcessState,
  type RunFigures,
} from '@wins/process-manager';
import type { Decision } from '../../kernel/audit/decision.js';
import type { DaemonEvent } from '../../kernel/daemon-events.js';
import { counter, gauge, typed, type Metrics, type Samples } from '../../kernel/metrics.js';

const NO_ENTRY = 'other';
const ENTRY = typed<EntryName | typeof NO_ENTRY>('programs of the whitelist, `other`');
const STATES = ['running', 'stopping', 'killing', 'draining', 'ended'] as const;

export const RUN_METRICS = {
  wins_runs: gauge(
    'Known runs, by state. An ended run stays known while its result may be queried.',
    { state: STATES },
  ),
  wins_run_starts_total: counter('Starts of runs, by result.', {
    entry: ENTRY,
    result: ['started', 'refused', 'failed'],
  }),
  wins_run_ends_total: counter('Ended runs, by the first reason.', {
    entry: ENTRY,
    reason: EXIT_REASONS,
  }),
  wins_run_exit_codes_total: counter('Ended runs, by kind of exit code.', {
    entry: ENTRY,
    class: ['zero', 'nonzero', 'signal', 'unknown'],
  }),
  wins_run_output_bytes_total: counter('Output of runs, read by a client or not.', {
    entry: ENTRY,
    stream: ['stdout', 'stderr'],
  }),
  wins_run_output_pauses_total: counter(
    'Pauses of runs to wait for their client to read their output.',
    { entry: ENTRY },
  ),
  wins_run_cpu_seconds_total: counter('Processor time of the processes of runs.', { entry: ENTRY }),
  wins_run_memory_bytes: gauge('Memory of the processes of runs.', { entry: ENTRY }),
  wins_run_restarts_total: counter('Restarts of detached runs.', { entry: ENTRY }),
};

type RunMetrics = Metrics<typeof RUN_METRICS>;

/** Registers metrics of runs. The returned function counts an event. */
export function runMetrics(
  metrics: RunMetrics,
  manager: () => Pick<ProcessManager, 'list' | 'measure'>,
  entries: () => readonly EntryName[],
): (event: DaemonEvent) => void {
  const totals = new RunTotals();
  metrics.begin('wins_run_starts_total', { entry: NO_ENTRY, result: 'refused' });
  // Creates the series of each entry in advance, so that the entry's first run shows as an increase.
  metrics.refresh(() => {
    for (const entry of entries()) {
      totals.begin(entry);
      metrics.begin('wins_run_starts_total', { entry });
      metrics.begin('wins_run_ends_total', { entry });
      metrics.begin('wins_run_exit_codes_total', { entry });
      metrics.begin('wins_run_restarts_total', { entry });
    }
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

function countRefusal(metrics: RunMetrics, { action, verdict, entry }: Decision): void {
  if (action === 'start' && verdict === 'refused')
    metrics.count('wins_run_starts_total', { entry: entry ?? NO_ENTRY, result: 'refused' });
}

function countRun(metrics: RunMetrics, event: ManagerEvent): void {
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

/** The parts of {@link RunFigures} that only grow. */
interface Totals {
  cpuMs: number;
  stdoutBytes: number;
  stderrBytes: number;
  pauses: number;
}

type Part = keyof Totals;

/** Sums resource use by entry. Events supply the figures of ended runs, and measurements those of living runs. */
export class RunTotals {
  readonly #ended = new Map<EntryName, Totals>();
  /** Totals as last reported. They must not decrease, or Prometheus would see a restart. */
  readonly #told = new Map<EntryName, Totals>();
  #memoryBytes = new Map<EntryName, number>();

  /** Lets the totals of an entry without runs count from zero. */
  begin(entry: EntryName): void {
    totalsIn(this.#told, entry);
  }

  ended({ entry, figures }: Extract<ManagerEvent, { readonly type: 'ended' }>): void {
    add(totalsIn(this.#ended, entry), figures);
  }

  measured({ runs }: Measurement): void {
    const now = new Map([...this.#ended].map(([entry, totals]) => [entry, { ...totals }]));
    this.#memoryBytes = new Map();
    for (const { run, figures } of runs) {
      // An ended run is already counted, or will be in this turn of the event loop.
      if (run.state.kind === 'ended') continue;
      const { entry } = run;
      add(totalsIn(now, entry), figures);
      const memoryBytes = this.#memoryBytes.get(entry) ?? 0;
      this.#memoryBytes.set(entry, memoryBytes + (figures.usage?.memoryBytes ?? 0));
    }
    for (const [entry, totals] of now) raise(totalsIn(this.#told, entry), totals);
  }

  /** @param scale - Source units per unit of the metric. */
  *samples(part: Part, scale = 1): Samples<typeof RUN_METRICS, 'wins_run_cpu_seconds_total'> {
    for (const [entry, totals] of this.#told) yield [{ entry }, totals[part] / scale];
  }

  *output(): Samples<typeof RUN_METRICS, 'wins_run_output_bytes_total'> {
    for (const [entry, { stdoutBytes, stderrBytes }] of this.#told) {
      yield [{ entry, stream: 'stdout' }, stdoutBytes];
      yield [{ entry, stream: 'stderr' }, stderrBytes];
    }
  }

  *memory(): Samples<typeof RUN_METRICS, 'wins_run_memory_bytes'> {
    for (const [entry, bytes] of this.#memoryBytes) yield [{ entry }, bytes];
  }
}

function totalsIn(map: Map<EntryName, Totals>, entry: EntryName): Totals {
  const known = map.get(entry) ?? { cpuMs: 0, stdoutBytes: 0, stderrBytes: 0, pauses: 0 };
  map.set(entry, known);
  return known;
}

function add(totals: Totals, { usage, output }: RunFigures): void {
  totals.cpuMs += usage?.cpuMs ?? 0;
  totals.stdoutBytes += output.stdoutBytes;
  totals.stderrBytes += output.stderrBytes;
  totals.pauses += output.pauses;
}

function raise(told: Totals, now: Totals): void {
  for (const part of Object.keys(told) as Part[]) told[part] = Math.max(told[part], now[part]);
}
