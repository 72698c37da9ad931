/** Interfaces of the features that `features/features.ts` lists. */
import type { ClientIdentity, ProcessHost } from '@wins/base';
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { AuditTrail } from './audit/audit-trail.js';
import type { configFingerprint, JudgedValue, LoadedConfig, WinsConfig } from '@wins/config';
import type { FileFingerprint, FileTrust } from '@wins/trusted-files';
import type { ActionOfFeature } from './audit/decision.js';
import type { Reported } from './conditions/condition.js';
import type { Seen } from './conditions/conditions.js';
import type { Check } from './doctor-host.js';
import type { ResourceRow } from './admission/resources.js';
import type { JudgingOptions } from './judging-options.js';
import type { Logger, LogLevel } from './log/logger.js';
import type { DaemonSystem } from './operating-system.js';
import type { Callers } from './rpc/administrators-only.js';
import type { DaemonResources } from './admission/daemon-resources.js';
import type { HostCallGate } from './rpc/host-call-gate.js';
import type { DaemonEvent, DaemonEvents } from './daemon-events.js';
import type { AnyMetrics, Metrics, MetricTable } from './metrics.js';
import type { ServedPipe } from './served-pipe.js';

export interface FeatureOff {
  /** A clause for a message. */
  readonly reason: string;
  /** Whether the reason is a fault in the config. The feature then counts as unhealthy. Default: no. */
  readonly isFault?: boolean;
}

/** Settings of an enabled feature have no key `reason`. */
export function isOff(settings: object): settings is FeatureOff {
  return 'reason' in settings;
}

export interface RunningFeature<Settings> {
  /** Called after the start, after each change of the settings, and for each retry. If absent, each change restarts the feature. */
  configure?(settings: Settings): Promise<void> | void;
  /** Called when the system shuts down, before the daemon stops. Never rejects. */
  endForShutdown?(): Promise<void>;
  /** Idempotent. */
  close(): Promise<void> | void;
}

/**
 * `observes` features start first, once the daemon owns its pipe, and end last. `serves` features start next; if one fails, the daemon does
 * not start. `works` features start when the daemon is ready, and end first.
 */
export type FeatureStage = 'observes' | 'serves' | 'works';

export interface FeatureService {
  readonly definition: ServiceDefinition;
  readonly pipe: 'main' | 'admin' | 'both';
  /** True: the main pipe reports the health of this service. Default: true. */
  readonly hasHealth?: boolean;
  /** Called once per pipe, before its first client. */
  implement(callers: Callers): UntypedServiceImplementation;
}

export function service(
  definition: ServiceDefinition,
  pipe: FeatureService['pipe'],
  implement: FeatureService['implement'],
): FeatureService {
  return { definition, pipe, implement };
}

/** Changes of the host that an administrator asks for, beside those that the feature makes by itself. */
export interface FeatureChanges<Running> {
  /** How the audit log names them. */
  readonly actions: Readonly<Record<HostChange, ActionOfFeature | undefined>>;
  /** Returns the steps of a change as a JSON object, and takes none. Absent: there is none to show. */
  plan?(running: Running, change: HostChange): Promise<object>;
  /** Resolves when the change is made or has failed; the facts then tell which. */
  make(running: Running, change: HostChange, signal: AbortSignal): Promise<unknown>;
}

/** `apply` makes the host as the config wants it; `remove` takes away what the feature keeps on it. */
export type HostChange = 'apply' | 'remove';

export interface FeatureReport<Settings> {
  readonly changed: () => void;
  /** Reports that the work for these settings is done. The feature is off until other settings arrive. */
  readonly finished: (settings: Settings, off: FeatureOff) => void;
}

/**
 * The part of a feature that other processes use beside the daemon, such as the doctor and each command that loads a config. A feature declares it in
 * its file `checks.ts`, which imports nothing that only a daemon needs, so that these processes start fast.
 */
export interface FeatureChecks {
  /** Judges the feature's part of a config. Reports errors only if `isStrict`, because a part that is wrong keeps no daemon from starting. */
  judge?(
    loaded: LoadedConfig,
    options: JudgingOptions,
  ): readonly JudgedValue[] | Promise<readonly JudgedValue[]>;
  /** Looks from the host at matters that the daemon cannot see, or that would take it long. */
  readonly doctor?: readonly Check[];
  /** Texts of the config that may be secret, or `name=secret`. A support bundle has none of them. */
  readonly secrets?: (config: WinsConfig) => readonly string[];
}

export interface Feature<
  Settings extends object = object,
  Running extends RunningFeature<Settings> = RunningFeature<Settings>,
> extends FeatureChecks {
  readonly name: string;
  readonly stage: FeatureStage;
  /** Completes the log line `cannot …` of a failed start. */
  readonly purpose: string;
  /** Config keys that are read only at the start of the daemon. Default: none. */
  readonly readAtStart?: readonly (keyof WinsConfig)[];
  /** Returns the settings that a config gives the feature. If they equal the old ones, the feature stays as it is. */
  settings(loaded: LoadedConfig): Settings | FeatureOff;
  /** A failure is logged and retried, except in the stage `serves`, where it ends the daemon. */
  start?(
    settings: Settings,
    kernel: Kernel,
    report: FeatureReport<Settings>,
  ): Running | FeatureOff | Promise<Running | FeatureOff>;
  /** Maximum time in ms that the daemon's shutdown waits for this feature. Default: no limit. */
  readonly closeWithinMs?: number;
  /** Refusal of calls while the feature is off. Default: the refusal of a stopping daemon. */
  readonly whenOff?: { readonly code: `${string}Off`; message(reason: string): string };
  services?(view: FeatureView<Settings, Running>, kernel: Kernel): readonly FeatureService[];
  /** State of the feature, without waiting and without side effects. A failed start and a fault of the config are reported without this. */
  conditions?(view: FeatureView<Settings, Running>, kernel: Kernel): readonly Reported[];
  /** State for programs: a JSON object. Only administrators receive it. Absent: there is no more than the conditions. */
  facts?(running: Running, settings: Settings | undefined, kernel: Kernel): object;
  readonly changes?: FeatureChanges<Running>;
  /** Health by name, undefined while unknown, in addition to the feature and its services, which are well unless it has a problem. */
  health?(view: FeatureView<Settings, Running>): Readonly<Record<string, boolean | undefined>>;
  /** Rows of the table of resources, for the docs. The feature takes claims from `kernel.resources.of`. */
  readonly resources?: Readonly<Record<string, ResourceRow>>;
  readonly metrics?: FeatureMetrics<Settings, Running>;
  /** Removes what the feature left on the host, such as services and routes. Called by an uninstallation, once the daemon has stopped. */
  readonly removal?: FeatureRemoval;
}

export interface FeatureMetrics<Settings, Running> {
  readonly table: MetricTable;
  /** Registers metrics that each scrape reads. The registry has the metrics of the table. @returns A function that counts an event. */
  register(
    registry: AnyMetrics,
    view: FeatureView<Settings, Running>,
    kernel: Kernel,
  ): (event: DaemonEvent) => void;
}

export function featureMetrics<
  const Table extends MetricTable,
  Settings extends object,
  Running extends RunningFeature<Settings>,
>(
  table: Table,
  register: (
    metrics: Metrics<Table>,
    view: FeatureView<Settings, Running>,
    kernel: Kernel,
  ) => (event: DaemonEvent) => void,
): FeatureMetrics<Settings, Running> {
  return {
    table,
    register: (registry, view, kernel) => register(registry as Metrics<Table>, view, kernel),
  };
}

export interface FeatureRemoval {
  /** Name of what the feature leaves on the host, for people. */
  readonly what: string;
  /** @returns The reason why something stays; undefined when nothing is left. */
  remove(from: RemovedInstallation): Promise<string | undefined>;
  /**
   * Ends what outlives the daemon, and keeps its data. Called when the service is unregistered, once the daemon has stopped.
   *
   * @returns The reason why something may still run; undefined when nothing does.
   */
  endOrphans?(configFile: string): Promise<string | undefined>;
}

export interface RemovedInstallation {
  readonly configFile: string;
  /** True if the Go release installed this node: what that release made goes too. */
  readonly isAdopted: boolean;
  /** True to keep data, such as the output of runs. */
  readonly keepsData: boolean;
}

/** A failed feature may still run with its previous settings. */
export type FeatureState =
  | ({ readonly kind: 'off' } & FeatureOff)
  | { readonly kind: 'starting' | 'on' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface FeatureView<Settings, Running> {
  readonly state: FeatureState;
  readonly settings: Settings | undefined;
  readonly running: Running | undefined;
  readonly reason: string;
  /** @throws FeatureError while the feature does not run. */
  require(): Running;
}

export interface StartedConfig {
  /** File named by `--config`; undefined for the default file. */
  readonly named: string | undefined;
  readonly loaded: LoadedConfig;
  readonly refused: Error | undefined;
  /** Taken before the file was read. */
  readonly fingerprint: ReturnType<typeof configFingerprint>;
}

export interface ConfigChange {
  /** A config list counts as one key. */
  readonly changed: readonly string[];
  /** One line per changed key, with both values if they may be shown. */
  readonly changes: readonly string[];
  /** Changed keys that take effect only at the next start. */
  readonly needRestart: readonly string[];
}

export interface DaemonConfig {
  readonly start: StartedConfig;
  inForce(): LoadedConfig;
  /** Age of the current config, in milliseconds of a monotonic clock. */
  ageMs(): number;
  /** Applies another config, as far as possible without a restart. */
  become(next: LoadedConfig): ConfigChange;
  needRestart(next: LoadedConfig): readonly string[];
}

/** The part of a daemon that its features receive. */
export interface Kernel {
  readonly logger: Logger;
  readonly level: LogLevel;
  readonly events: DaemonEvents;
  readonly audit: AuditTrail;
  readonly resources: DaemonResources;
  readonly trust: FileTrust;
  readonly system: DaemonSystem;
  /** Answers calls about the host. Calls that change it run one at a time. */
  readonly hostCalls: Pick<HostCallGate, 'answer'>;
  /** Starts processes with the variables that locate this daemon. */
  readonly processHost: ProcessHost;
  /** Folder of the process records that must survive a crash. */
  readonly stateDirectory: string;
  /** Undefined when this daemon is not a service. */
  readonly service: string | undefined;
  readonly program: string;
  /** Undefined when this daemon is not a service. */
  readonly upgradeRecords: string | undefined;
  /** SHA-1 of the program when the daemon started; empty if the file was unreadable. */
  readonly checksum: Promise<string>;
  /** Fingerprint of the program when the daemon started. */
  readonly programFingerprint: FileFingerprint;
  readonly config: DaemonConfig;
  readonly pipe: Pick<ServedPipe, 'connections' | 'identify' | 'scheduler'>;
  /** Returns the client of an open connection. The name is `pipe:N` or `admin:N`. */
  clientNamed(name: string): ClientIdentity | undefined;
  of<Settings extends object, Running extends RunningFeature<Settings>>(
    feature: Feature<Settings, Running>,
  ): FeatureView<Settings, Running>;
  features(): readonly FeatureOfDaemon[];
  /** Asks all features for their state. */
  conditions(): readonly Seen[];
}

export interface FeatureOfDaemon {
  readonly feature: Feature;
  readonly view: FeatureView<object, RunningFeature<object>>;
}
