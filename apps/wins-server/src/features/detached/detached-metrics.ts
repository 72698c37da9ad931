import {
  isKept,
  RUN_STATES,
  stateOf,
  type DetachedEvent,
  type EntryName,
  type KeptName,
  type DetachedRun,
} from '@wins/process-manager';
import type { DaemonEvent } from '../../kernel/daemon-events.js';
import type { Kernel } from '../../kernel/feature.js';
import { gauge, typed, type Metrics } from '../../kernel/metrics.js';
import { RUN_METRICS } from '../runs/run-metrics.js';

/** Returns a function that sends events to the log, the event journal and the audit log. */
export function toldBy({ logger, events, audit }: Pick<Kernel, 'logger' | 'events' | 'audit'>) {
  return (event: DetachedEvent): void => {
    if (event.type === 'noted') {
      logger[event.level](event.facts, event.text);
      return;
    }
    const { type, run, ...more } = event;
    const { mark, name, path, entry } = run.facts.run;
    const about = { mark, name, path, entry, label: run.label };
    if ('exit' in more) {
      audit.note('endedWithoutDaemon', { mark, name, path, ...more.exit });
      return;
    }
    if ('next' in more) {
      const { why, reason } = more.next;
      logger.warn({ ...about, why, reason }, 'a run will not be started again');
      events.publish({ type: 'kept', event: type, facts: { ...about, why, reason } });
      return;
    }
    const { waitMs, refused } = more;
    const facts = { ...about, waitMs, restarts: run.plan?.restarts, code: refused?.code };
    logger.info({ ...facts, problem: refused?.message }, 'a run is started again');
    events.publish({ type: 'kept', event: type, facts });
  };
}

export const DETACHED_METRICS = {
  wins_detached_runs: gauge(
    'Detached runs that are kept. Waiting ones are started again. States without runs of a program are absent.',
    { entry: typed<EntryName>('programs of the whitelist'), state: RUN_STATES },
  ),
  wins_kept_programs: gauge('Programs of "keep"; 1 for the state of each.', {
    program: typed<KeptName>('names of "keep"'),
    state: RUN_STATES,
  }),
  wins_run_restarts_total: RUN_METRICS.wins_run_restarts_total,
};

/** Registers metrics of detached runs. The returned function counts an event. */
export function detachedMetrics(
  metrics: Metrics<typeof DETACHED_METRICS>,
  all: () => readonly DetachedRun[],
): (event: DaemonEvent) => void {
  metrics.read('wins_detached_runs', () =>
    all().map((run) => [{ entry: run.facts.run.entry as EntryName, state: stateOf(run) }, 1]),
  );
  metrics.read('wins_kept_programs', () =>
    all().flatMap((run) =>
      isKept(run.label) ? [[{ program: run.label, state: stateOf(run) }, 1] as const] : [],
    ),
  );
  return (event) => {
    if (event.type !== 'kept' || event.event !== 'runRestarts') return;
    metrics.count('wins_run_restarts_total', { entry: event.facts['entry'] as EntryName });
  };
}
