import type {
  DecidedAction,
  DecidingCode,
  DecidingRule,
  RuleWords,
} from '../../kernel/audit/decision.js';
import type { Feature } from '../../kernel/feature.js';
import { counter, gauge, histogram, typed } from '../../kernel/metrics.js';
import type { ServedMethod } from '../../kernel/rpc/call-server.js';

/** Name of a feature, which is part of the release. */
export type FeatureName = string & { readonly [listed]: true };
/** Text that is part of the release. */
export type BuildText = string & { readonly [built]: true };
declare const built: unique symbol;
declare const listed: unique symbol;

const PIPE = ['main', 'tunnel'] as const;
const METHOD = typed<ServedMethod>('methods that are served, `unknown`');
const BUILD = typed<BuildText>('of this release');
/** gRPC status names in the order of their codes, and `brokenOff` for a call without a status. */
export const CODE = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
  'brokenOff',
] as const;

/** Metrics of the kernel and of the process. */
export const DAEMON_METRICS = {
  wins_build_info: gauge('The running release; always 1.', { version: BUILD, commit: BUILD }),
  wins_connections_total: counter('Connections opened, closed, or ended to admit others.', {
    pipe: [...PIPE, 'admin'],
    outcome: ['opened', 'closed', 'refused'],
  }),
  wins_calls_total: counter('Ended calls, by status.', { method: METHOD, code: CODE }),
  // Has no further labels, because each combination of label values adds nine series in Prometheus.
  wins_call_duration_seconds: histogram(
    'Duration of calls. KeepAlive and Wait calls of a run last as long as the run.',
    { method: METHOD },
  ),
  wins_refusals_total: counter('Refusals, by action and rule.', {
    action: typed<DecidedAction>('actions of the audit log'),
    rule: typed<RuleWords<DecidingRule> | DecidingCode>('rules and codes of the audit log'),
  }),
  wins_conditions: gauge('Warnings and problems of the daemon, as `wins status` shows them.', {
    feature: typed<FeatureName>('features of the daemon'),
    level: ['warning', 'problem'],
  }),
  wins_disk_free_bytes: gauge('Free bytes of the disks of the state folder and of the audit log.', {
    folder: ['state', 'audit'],
  }),
  wins_config_reloads_total: counter('Reloads of the config, by result.', {
    result: ['applied', 'unchanged', 'rejected', 'lastGood'],
  }),
  wins_config_age_seconds: gauge('Age of the config in force.'),
  wins_audit_records_total: counter('Audit records on the disk.'),
  wins_audit_records_lost_total: counter('Audit records that could not be written.'),
  wins_event_loop_delay_seconds: gauge(
    'Delay of the event loop since the last reset; a scrape resets it once 10 s have passed.',
    { percentile: ['50', '99', '100'] },
  ),
  wins_event_loop_stalls_total: counter('Blocks of the event loop of a second or more.'),
  wins_heap_bytes: gauge('Memory of the JavaScript heap, and external memory.', {
    space: ['used', 'total', 'external'],
  }),
  wins_handles: gauge('Open handles: sockets, timers, processes.'),
  process_cpu_seconds_total: counter('Processor time of the daemon.'),
  process_resident_memory_bytes: gauge('Resident memory of the daemon.'),
  process_start_time_seconds: gauge('Start of the daemon, in seconds since 1970.'),
};

/** Metrics of a daemon with these features. The type has only those of the kernel; each feature knows its own. */
export function allMetrics(features: readonly Pick<Feature, 'metrics'>[]): typeof DAEMON_METRICS {
  const tables = features.map(({ metrics }) => metrics?.table ?? {});
  return Object.assign({}, DAEMON_METRICS, ...tables) as typeof DAEMON_METRICS;
}
