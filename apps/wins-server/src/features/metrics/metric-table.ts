import type { EntryName, ExitReason } from '@wins/process-manager';
import type {
  DecidedAction,
  DecidingCode,
  DecidingRule,
  RuleWords,
} from '../../kernel/audit/decision.js';
import type { ServedMethod } from '../../kernel/rpc/call-server.js';

/** Kinds of metrics, as Prometheus names them. */
export type MetricType = 'counter' | 'gauge' | 'histogram';

/** Values that are not listed here, but by a type which no text of a client has. */
export interface TypedValues<Value extends string = string> {
  /** For the docs. */
  readonly what: string;
  readonly value?: Value;
}

/** The values that a label may have. There are no others: the compiler refuses them. */
export type LabelValues = readonly string[] | TypedValues;

type Labelled = Readonly<Record<string, LabelValues>>;

/** One metric. Its name has its unit. */
export interface MetricDefinition<
  Type extends MetricType = MetricType,
  Labels extends Labelled = Labelled,
> {
  readonly type: Type;
  readonly help: string;
  readonly labels: Labels;
}

const metricOf =
  <Type extends MetricType>(type: Type) =>
  <const Labels extends Labelled = Readonly<Record<string, never>>>(
    help: string,
    labels?: Labels,
  ): MetricDefinition<Type, Labels> => ({ type, help, labels: labels ?? ({} as Labels) });
const counter = metricOf('counter');
const gauge = metricOf('gauge');
const histogram = metricOf('histogram');
const typed = <Value extends string>(what: string): TypedValues<Value> => ({ what });

/** The name of a probe of a plan: its server chose it. */
export type ProbeName = string & { readonly [planned]: true };
/** A text of the release itself. */
export type BuildText = string & { readonly [built]: true };
declare const planned: unique symbol;
declare const built: unique symbol;

const PIPE = ['main', 'tunnel'] as const;
/** Label of a program that no entry names. */
export const NO_ENTRY = 'other';
const ENTRY = typed<EntryName | typeof NO_ENTRY>('programs of the whitelist, `other`');
const METHOD = typed<ServedMethod>('methods that are served, `unknown`');
const BUILD = typed<BuildText>('of this release');
/** The names of the statuses of gRPC, and that of a call that ended without one. */
export const CODE = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND'],
  ...['ALREADY_EXISTS', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION'],
  ...['ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS'],
  ...['UNAUTHENTICATED', 'brokenOff'],
] as const;
const END_REASON = [
  ...['exited', 'outOfMemory', 'stopped', 'leaseEnded', 'leaseNeverHeld', 'ownerDisconnected'],
  ...['replaced', 'yielded', 'daemonStopping', 'hostFailed'],
] as const satisfies readonly ExitReason[];

/** `other`: its record was changed. */
export const UPGRADE_OUTCOMES = ['upgraded', 'rolledBack', 'failed', 'other'] as const;

/** The upper ends of the buckets of a histogram, in seconds. */
export const BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10] as const;

/** Every metric of the daemon, in the order in which they are shown. */
export const METRICS = {
  wins_build_info: gauge('The release that runs; always 1.', { version: BUILD, commit: BUILD }),
  wins_connections: gauge('Connections that are open, those included that have not greeted yet.', {
    pipe: PIPE,
  }),
  wins_connections_total: counter(
    'Connections that were opened or closed, or ended to make room for others.',
    { pipe: [...PIPE, 'admin'], outcome: ['opened', 'closed', 'refused'] },
  ),
  wins_calls_total: counter('Calls that are over, by the status of their answer.', {
    method: METHOD,
    code: CODE,
  }),
  // Each is nine for Prometheus.
  wins_call_duration_seconds: histogram(
    'How long a call took, from its request to its end. The lease and the output of a run last as long as the run.',
    { method: METHOD },
  ),
  wins_refusals_total: counter('Refusals, by what was asked and the rule that refused it.', {
    action: typed<DecidedAction>('actions of the audit log'),
    rule: typed<RuleWords<DecidingRule> | DecidingCode>('rules and codes of the audit log'),
  }),
  wins_runs: gauge(
    'Runs that the daemon knows, by state; one that has ended is known as long as it may be asked for.',
    { state: ['running', 'stopping', 'killing', 'draining', 'ended'] },
  ),
  wins_run_starts_total: counter(
    'Starts of runs: started, refused by a rule, or failed in the system.',
    { entry: ENTRY, result: ['started', 'refused', 'failed'] },
  ),
  wins_run_ends_total: counter('Runs that have ended, by the first reason for it.', {
    entry: ENTRY,
    reason: END_REASON,
  }),
  wins_run_exit_codes_total: counter(
    'Runs that have ended, by what their program left: 0, another code, a signal.',
    { entry: ENTRY, class: ['zero', 'nonzero', 'signal', 'unknown'] },
  ),
  wins_run_output_bytes_total: counter(
    'What runs wrote to their output, read by a client or not.',
    { entry: ENTRY, stream: ['stdout', 'stderr'] },
  ),
  wins_run_output_pauses_total: counter(
    'How often a run was made to wait until its client had read its output.',
    { entry: ENTRY },
  ),
  wins_run_cpu_seconds_total: counter('Processor time of the processes of runs.', { entry: ENTRY }),
  wins_run_memory_bytes: gauge('Memory of the processes of runs.', { entry: ENTRY }),
  wins_lasting_runs: gauge(
    'Detached runs that are kept: waiting ones are started again, those that gave up are not any more.',
    { state: ['running', 'waiting', 'gaveUp', 'ended'] },
  ),
  wins_run_restarts_total: counter('Detached runs that ended and are started again.', {
    entry: ENTRY,
  }),
  wins_tunnel_sessions: gauge('Clients that have a tunnel open.'),
  wins_tunnel_sessions_total: counter(
    'Tunnels that have ended, by the reason. A client that connects again and again ends as many.',
    { reason: ['closed', 'aborted', 'peer-closed', 'failed'] },
  ),
  wins_tunnel_streams: gauge('TCP streams that are open in all tunnels.'),
  wins_tunnel_flows: gauge('UDP flows that are open in all tunnels.'),
  wins_tunnel_bytes_total: counter(
    'What streams and UDP flows have moved: in is from the client, out is to it.',
    { direction: ['in', 'out'] },
  ),
  wins_tunnel_pauses_total: counter(
    'How often a client was asked to pause a stream whose program does not read.',
  ),
  wins_tunnel_datagrams_dropped_total: counter(
    'Datagrams towards clients that were dropped because the client was slow.',
  ),
  wins_tunnel_connects_total: counter(
    'Streams and UDP flows that were asked for: connected, refused by a rule, or failed at their port.',
    { result: ['connected', 'refused', 'failed'] },
  ),
  wins_tunnel_slow_streams_total: counter(
    'Streams whose program was sent bytes and sent none back for 15 s.',
  ),
  wins_config_rejected: gauge(
    'Whether the config file cannot be used, so that an earlier one is in force: 1 or 0.',
  ),
  wins_disk_free_bytes: gauge('Free bytes of the disks without which no program may start.', {
    folder: ['state', 'audit'],
  }),
  wins_config_reloads_total: counter(
    'Configs that were read again, and whether they came into force.',
    { result: ['applied', 'unchanged', 'rejected', 'lastGood'] },
  ),
  wins_config_age_seconds: gauge('Since the config in force was read.'),
  wins_upgrades_total: counter(
    'Upgrades of this service whose end the daemon has found, by how they ended.',
    { outcome: UPGRADE_OUTCOMES },
  ),
  wins_plan_applies_total: counter('Passes of plans that are over.', {
    result: ['applied', 'failed'],
  }),
  wins_plan_last_contact_seconds: gauge(
    'Since the API server answered last, or the agent began if it never did; absent without a plan of a server.',
  ),
  wins_plan_probe_healthy: gauge('Whether a probe of a plan is healthy: 1 or 0.', {
    probe: typed<ProbeName>('probes of plans'),
  }),
  wins_csi_proxy_state: gauge(
    'The state of csi-proxy: 1 for the one that it is in. No state is 1 while it is not kept.',
    { state: ['absent', 'fetching', 'verified', 'installed', 'serving', 'failed'] },
  ),
  wins_host_routes: gauge(
    'Routes, and parts of the network of containers, that are wanted on the host, by how they stand. None while it is not kept.',
    {
      state: ['applied', 'foreign', 'planned', 'waiting', 'conflict', 'rejected', 'failed'],
    },
  ),
  wins_host_source_age_seconds: gauge(
    'Since a source of other hosts was in touch, or began if it never was. None for one that is off.',
    { source: ['metadata', 'nodes', 'containers'] },
  ),
  wins_host_ports: gauge('Ports of the host that the config has lead to containers, by state.', {
    state: ['listening', 'starting', 'busy', 'failed', 'rejected', 'down'],
  }),
  wins_host_port_connections: gauge('Connections and UDP flows of these ports that are open.', {
    protocol: ['tcp', 'udp'],
  }),
  wins_host_port_refusals_total: counter(
    'Connections, and attempts to begin UDP flows, that did not get through.',
    { protocol: ['tcp', 'udp'] },
  ),
  wins_host_route_changes_total: counter(
    'Routes, and parts of the network of containers, that the daemon set out to add or to remove.',
    {
      op: ['add', 'remove'],
    },
  ),
  wins_audit_records_total: counter('Records that are on the disk.'),
  wins_audit_records_lost_total: counter(
    'Records that could not be written; what some of them were about was refused for it.',
  ),
  wins_event_loop_delay_seconds: gauge(
    'How late the event loop was, over the time since a scrape at least 10 s ago.',
    { quantile: ['0.5', '0.99', '1'] },
  ),
  wins_event_loop_stalls_total: counter(
    'How often the event loop was blocked for a second or more.',
  ),
  wins_heap_bytes: gauge('Memory of the JavaScript heap and beside it.', {
    space: ['used', 'total', 'external'],
  }),
  wins_handles: gauge('What keeps the event loop busy: sockets, timers, processes.'),
  process_cpu_seconds_total: counter('Processor time of the daemon.'),
  process_resident_memory_bytes: gauge('Memory of the daemon that is resident.'),
  process_start_time_seconds: gauge('When the daemon began, since 1970.'),
};

/** The name of a metric of the daemon. */
export type MetricName = keyof typeof METRICS;

type ValueOf<Values> = Values extends readonly (infer Value extends string)[]
  ? Value
  : Values extends TypedValues<infer Value>
    ? Value
    : never;

/** The labels of one sample of a metric. */
export type LabelsOf<Name extends MetricName> = {
  readonly [Label in keyof (typeof METRICS)[Name]['labels']]: ValueOf<
    (typeof METRICS)[Name]['labels'][Label]
  >;
};
