import type { EntryName, ExitReason } from '@wins/process-manager';
import type {
  DecidedAction,
  DecidingCode,
  DecidingRule,
  RuleWords,
} from '../../kernel/audit/decision.js';
import type { ServedMethod } from '../../kernel/rpc/call-server.js';
import { RUN_STATES, type KeptName } from '@wins/process-manager';

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** Label values without a fixed list. A narrow type `Value` excludes plain strings, so text from a client cannot become a label. */
export interface TypedValues<Value extends string = string> {
  readonly what: string;
  readonly value?: Value;
}

export type LabelValues = readonly string[] | TypedValues;

type Labelled = Readonly<Record<string, LabelValues>>;

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

/** Name of a plan's probe, chosen by the plan's server. */
export type ProbeName = string & { readonly [planned]: true };
/** Name of a feature, which is part of the release. */
export type FeatureName = string & { readonly [listed]: true };
/** Text that is part of the release. */
export type BuildText = string & { readonly [built]: true };
declare const planned: unique symbol;
declare const built: unique symbol;
declare const listed: unique symbol;

const PIPE = ['main', 'tunnel'] as const;
export const NO_ENTRY = 'other';
const ENTRY = typed<EntryName | typeof NO_ENTRY>('programs of the whitelist, `other`');
const METHOD = typed<ServedMethod>('methods that are served, `unknown`');
const BUILD = typed<BuildText>('of this release');
/** gRPC status names in the order of their codes, and `brokenOff` for a call without a status. */
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

/** `other`: the upgrade's record names none of the first three. */
export const UPGRADE_OUTCOMES = ['upgraded', 'rolledBack', 'failed', 'other'] as const;

export const BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10] as const;

export const METRICS = {
  wins_build_info: gauge('The running release; always 1.', { version: BUILD, commit: BUILD }),
  wins_connections: gauge('Open connections, also before their handshake.', { pipe: PIPE }),
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
  wins_runs: gauge(
    'Known runs, by state. An ended run stays known while its result may be queried.',
    { state: ['running', 'stopping', 'killing', 'draining', 'ended'] },
  ),
  wins_run_starts_total: counter('Starts of runs, by result.', {
    entry: ENTRY,
    result: ['started', 'refused', 'failed'],
  }),
  wins_run_ends_total: counter('Ended runs, by the first reason.', {
    entry: ENTRY,
    reason: END_REASON,
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
  wins_detached_runs: gauge('Detached runs that are kept. Waiting ones are started again.', {
    state: RUN_STATES,
  }),
  wins_kept_programs: gauge('Programs of "keep"; 1 for the state of each.', {
    program: typed<KeptName>('names of "keep"'),
    state: RUN_STATES,
  }),
  wins_run_restarts_total: counter('Restarts of detached runs.', { entry: ENTRY }),
  wins_tunnel_sessions: gauge('Open tunnels.'),
  wins_tunnel_sessions_total: counter('Ended tunnels, by reason.', {
    reason: ['closed', 'aborted', 'peer-closed', 'failed'],
  }),
  wins_tunnel_streams: gauge('Open TCP streams of all tunnels.'),
  wins_tunnel_flows: gauge('Open UDP flows of all tunnels.'),
  wins_tunnel_bytes_total: counter(
    'Bytes of streams and UDP flows, from the client (in) and to it (out).',
    { direction: ['in', 'out'] },
  ),
  wins_tunnel_pauses_total: counter(
    'Pauses requested from clients because a program did not read.',
  ),
  wins_tunnel_datagrams_dropped_total: counter('Datagrams dropped because the client was slow.'),
  wins_tunnel_connects_total: counter('Requested streams and UDP flows, by result.', {
    result: ['connected', 'refused', 'failed'],
  }),
  wins_tunnel_slow_streams_total: counter('Streams whose program did not answer within 15 s.'),
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
  wins_upgrades_total: counter(
    'Ended upgrades of this service that the daemon found, by outcome.',
    { outcome: UPGRADE_OUTCOMES },
  ),
  wins_plan_applies_total: counter('Ended passes of plans.', { result: ['applied', 'failed'] }),
  wins_plan_last_contact_seconds: gauge(
    'Time since the last answer of the API server, or since the start of the agent if there was none; absent when no server sends plans.',
  ),
  wins_plan_probe_healthy: gauge('1 while a probe of a plan is healthy, else 0.', {
    probe: typed<ProbeName>('probes of plans'),
  }),
  wins_csi_proxy_state: gauge(
    '1 for the current state of csi-proxy; no state is 1 while it is off.',
    {
      state: ['absent', 'fetching', 'verified', 'installed', 'serving', 'failed'],
    },
  ),
  wins_host_routes: gauge(
    'Wanted routes, and parts of the network of containers, such as its bridge, by state.',
    {
      state: ['applied', 'foreign', 'planned', 'waiting', 'conflict', 'rejected', 'failed'],
    },
  ),
  wins_host_source_age_seconds: gauge(
    'Time since a source that lists other hosts or containers last answered, or since it started.',
    { source: ['metadata', 'nodes', 'containers'] },
  ),
  wins_host_ports: gauge('Ports of the host that lead to containers, by state.', {
    state: ['listening', 'starting', 'busy', 'failed', 'rejected', 'down'],
  }),
  wins_host_port_connections: gauge('Open connections and UDP flows of relayed ports.', {
    protocol: ['tcp', 'udp'],
  }),
  wins_host_port_refusals_total: counter('Failed connections and UDP flows of relayed ports.', {
    protocol: ['tcp', 'udp'],
  }),
  wins_host_route_changes_total: counter(
    'Changes of routes and parts of the network of containers, tried or done.',
    { op: ['add', 'remove'] },
  ),
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

export type MetricName = keyof typeof METRICS;

type ValueOf<Values> = Values extends readonly (infer Value extends string)[]
  ? Value
  : Values extends TypedValues<infer Value>
    ? Value
    : never;

export type LabelsOf<Name extends MetricName> = {
  readonly [Label in keyof (typeof METRICS)[Name]['labels']]: ValueOf<
    (typeof METRICS)[Name]['labels'][Label]
  >;
};
