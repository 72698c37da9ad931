/** What kinds of metrics there are, as Prometheus names them. */
export type MetricType = 'counter' | 'gauge' | 'histogram';

/** The values that a label may have: these, or at most so many that are not known before. Any other value is told as `other`. */
export type LabelValues = readonly string[] | number;

/** One metric: what it is, and how many series of it there may be. */
export interface MetricDefinition {
  readonly type: MetricType;
  readonly help: string;
  /** What its numbers are; its name has it as well where Prometheus wants that. */
  readonly unit: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** Combinations of labels; beyond them all labels are `other`. Default: as many as the labels have, 64 at most. */
  readonly mostSeries?: number;
}

const PIPE = ['main', 'tunnel'] as const;
/** Names of programs of the whitelist. */
const ENTRY = 32;
const METHOD = 48;
/** The names of the statuses of gRPC, and that of a call that ended without one. */
const CODE = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND'],
  ...['ALREADY_EXISTS', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION'],
  ...['ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS'],
  ...['UNAUTHENTICATED', 'brokenOff'],
] as const;
const END_REASON = [
  ...['exited', 'stopped', 'leaseEnded', 'leaseNeverHeld', 'ownerDisconnected'],
  ...['daemonStopping', 'hostFailed'],
] as const;

/** The upper ends of the buckets of a histogram, in seconds. */
export const BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10] as const;

/** Every metric of the daemon, in the order in which they are shown. */
export const METRICS = {
  wins_build_info: {
    type: 'gauge',
    help: 'The release that runs; always 1.',
    unit: '1',
    labels: { version: 1, commit: 1 },
  },
  wins_connections: {
    type: 'gauge',
    help: 'Connections that are open, those included that have not greeted yet.',
    unit: 'connections',
    labels: { pipe: PIPE },
  },
  wins_connections_total: {
    type: 'counter',
    help: 'Connections that were opened or closed, or ended to make room for others.',
    unit: 'connections',
    labels: { pipe: [...PIPE, 'admin'], outcome: ['opened', 'closed', 'refused'] },
    // Each pipe with each outcome.
    mostSeries: 9,
  },
  wins_calls_total: {
    type: 'counter',
    help: 'Calls that are over, by the status of their answer.',
    unit: 'calls',
    labels: { method: METHOD, code: CODE },
    mostSeries: 80,
  },
  wins_call_duration_seconds: {
    type: 'histogram',
    help: 'How long a call took, from its request to its end. The lease and the output of a run last as long as the run.',
    unit: 'seconds',
    labels: { method: METHOD },
    // Each is nine for Prometheus.
    mostSeries: 16,
  },
  wins_refusals_total: {
    type: 'counter',
    help: 'Refusals, by what was asked and the rule that refused it.',
    unit: 'refusals',
    labels: { action: 24, rule: 40 },
    mostSeries: 48,
  },
  wins_runs: {
    type: 'gauge',
    help: 'Runs that the daemon knows, by state; one that has ended is known as long as it may be asked for.',
    unit: 'runs',
    labels: { state: ['running', 'stopping', 'killing', 'draining', 'ended'] },
  },
  wins_run_starts_total: {
    type: 'counter',
    help: 'Starts of runs: started, refused by a rule, or failed in the system.',
    unit: 'starts',
    labels: { entry: ENTRY, result: ['started', 'refused', 'failed'] },
  },
  wins_run_ends_total: {
    type: 'counter',
    help: 'Runs that have ended, by the first reason for it.',
    unit: 'runs',
    labels: { entry: ENTRY, reason: END_REASON },
  },
  wins_run_exit_codes_total: {
    type: 'counter',
    help: 'Runs that have ended, by what their program left: 0, another code, a signal.',
    unit: 'runs',
    labels: { entry: ENTRY, class: ['zero', 'nonzero', 'signal', 'unknown'] },
  },
  wins_run_output_bytes_total: {
    type: 'counter',
    help: 'What runs wrote to their output, read by a client or not.',
    unit: 'bytes',
    labels: { entry: ENTRY, stream: ['stdout', 'stderr'] },
  },
  wins_run_output_pauses_total: {
    type: 'counter',
    help: 'How often a run was made to wait until its client had read its output.',
    unit: 'pauses',
    labels: { entry: ENTRY },
  },
  wins_run_cpu_seconds_total: {
    type: 'counter',
    help: 'Processor time of the processes of runs.',
    unit: 'seconds',
    labels: { entry: ENTRY },
  },
  wins_run_memory_bytes: {
    type: 'gauge',
    help: 'Memory of the processes of runs.',
    unit: 'bytes',
    labels: { entry: ENTRY },
  },
  wins_tunnel_sessions: {
    type: 'gauge',
    help: 'Clients that have a tunnel open.',
    unit: 'sessions',
    labels: {},
  },
  wins_tunnel_sessions_total: {
    type: 'counter',
    help: 'Tunnels that have ended, by the reason. A client that connects again and again ends as many.',
    unit: 'sessions',
    labels: { reason: ['closed', 'aborted', 'peer-closed', 'failed'] },
  },
  wins_tunnel_streams: {
    type: 'gauge',
    help: 'TCP streams that are open in all tunnels.',
    unit: 'streams',
    labels: {},
  },
  wins_tunnel_bytes_total: {
    type: 'counter',
    help: 'What streams have moved: in is from the client, out is to it.',
    unit: 'bytes',
    labels: { direction: ['in', 'out'] },
  },
  wins_tunnel_pauses_total: {
    type: 'counter',
    help: 'How often a client was asked to pause a stream whose program does not read.',
    unit: 'pauses',
    labels: {},
  },
  wins_tunnel_connects_total: {
    type: 'counter',
    help: 'Streams that were asked for: connected, refused by a rule, or failed at their port.',
    unit: 'streams',
    labels: { result: ['connected', 'refused', 'failed'] },
  },
  wins_config_reloads_total: {
    type: 'counter',
    help: 'Configs that were read again, and whether they came into force.',
    unit: 'reloads',
    labels: { result: ['applied', 'unchanged', 'rejected', 'lastGood'] },
  },
  wins_config_age_seconds: {
    type: 'gauge',
    help: 'Since the config in force was read.',
    unit: 'seconds',
    labels: {},
  },
  wins_upgrades_total: {
    type: 'counter',
    help: 'Upgrades of this service whose end the daemon has found, by how they ended.',
    unit: 'upgrades',
    labels: { outcome: ['upgraded', 'rolledBack', 'failed'] },
  },
  wins_plan_applies_total: {
    type: 'counter',
    help: 'Passes of plans that are over.',
    unit: 'passes',
    labels: { result: ['applied', 'failed'] },
  },
  wins_plan_last_contact_seconds: {
    type: 'gauge',
    help: 'Since the API server answered last, or the agent began if it never did; absent without a plan of a server.',
    unit: 'seconds',
    labels: {},
  },
  wins_plan_probe_healthy: {
    type: 'gauge',
    help: 'Whether a probe of a plan is healthy: 1 or 0.',
    unit: '1',
    labels: { probe: 64 },
  },
  wins_csi_proxy_state: {
    type: 'gauge',
    help: 'The state of csi-proxy: 1 for the one that it is in. No state is 1 while it is not kept.',
    unit: '1',
    labels: { state: ['absent', 'fetching', 'verified', 'installed', 'serving', 'failed'] },
  },
  wins_audit_records_total: {
    type: 'counter',
    help: 'Records that are on the disk.',
    unit: 'records',
    labels: {},
  },
  wins_audit_records_lost_total: {
    type: 'counter',
    help: 'Records that could not be written; what some of them were about was refused for it.',
    unit: 'records',
    labels: {},
  },
  wins_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'How late the event loop was, over the time since a scrape at least 10 s ago.',
    unit: 'seconds',
    labels: { quantile: ['0.5', '0.99', '1'] },
  },
  wins_event_loop_stalls_total: {
    type: 'counter',
    help: 'How often the event loop was blocked for a second or more.',
    unit: 'stalls',
    labels: {},
  },
  wins_heap_bytes: {
    type: 'gauge',
    help: 'Memory of the JavaScript heap and beside it.',
    unit: 'bytes',
    labels: { space: ['used', 'total', 'external'] },
  },
  wins_handles: {
    type: 'gauge',
    help: 'What keeps the event loop busy: sockets, timers, processes.',
    unit: 'handles',
    labels: {},
  },
  process_cpu_seconds_total: {
    type: 'counter',
    help: 'Processor time of the daemon.',
    unit: 'seconds',
    labels: {},
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    help: 'Memory of the daemon that is resident.',
    unit: 'bytes',
    labels: {},
  },
  process_start_time_seconds: {
    type: 'gauge',
    help: 'When the daemon began, since 1970.',
    unit: 'seconds',
    labels: {},
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

/** The name of a metric of the daemon. */
export type MetricName = keyof typeof METRICS;

/** How many combinations of labels a metric may have. Pure. */
export function mostSeriesOf({ labels, mostSeries = 64 }: MetricDefinition): number {
  const combinations = Object.values(labels).reduce<number>(
    (product, values) => product * (1 + (typeof values === 'number' ? values : values.length)),
    1,
  );
  return Math.min(combinations, mostSeries);
}
