/** Declaration of a feature, with all facts that the kernel needs. `features/features.ts` is the only list of features. */
import type { ClientIdentity, ProcessHost } from '@wins/base';
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { AuditTrail } from './audit/audit-trail.js';
import type { configFingerprint, LoadedConfig, WinsConfig } from '@wins/config';
import type { MetricRegistry } from '../features/metrics/metric-registry.js';
import type { FileTrust } from '@wins/trusted-files';
import type { Check } from '../doctor/doctor-host.js';
import type { Logger, LogLevel } from './log/logger.js';
import type { DaemonSystem } from '../operating-system.js';
import type { Callers } from './rpc/administrators-only.js';
import type { DaemonResources } from './admission/daemon-resources.js';
import type { HostCallGate } from '../features/host/host-call-gate.js';
import type { DaemonEvent, DaemonEvents } from './daemon-events.js';
import type { ServedPipe } from './served-pipe.js';

export interface FeatureOff {
  /** Reason as a clause, for people. */
  readonly reason: string;
  /** Whether a fault of the config is the reason, so that the feature is unhealthy. Default: no. */
  readonly isFault?: boolean;
}

/** Returns true when the settings say that a feature is off. Settings of an active feature have no key `reason`. */
export function isOff(settings: object): settings is FeatureOff {
  return 'reason' in settings;
}

/** Started feature. Its switch closes it. */
export interface RunningFeature<Settings> {
  /** Called with the initial settings and each change; repeated after a failure. Absent: each change restarts the feature. */
  configure?(settings: Settings): Promise<void> | void;
  /** Idempotent. */
  close(): Promise<void> | void;
}

/**
 * `observes` starts when the daemon owns its pipe, and ends last. `serves` starts next; without it the daemon does not start. `works`
 * starts when the daemon is ready, and ends first.
 */
export type FeatureStage = 'observes' | 'serves' | 'works';

export interface FeatureService {
  readonly definition: ServiceDefinition;
  readonly pipe: 'main' | 'admin' | 'both';
  /** Whether the service has a health status. Default: yes, on the main pipe. */
  readonly hasHealth?: boolean;
  /** Called once per pipe, before the first client is served. */
  implement(callers: Callers): UntypedServiceImplementation;
}

export function service(
  definition: ServiceDefinition,
  pipe: FeatureService['pipe'],
  implement: FeatureService['implement'],
): FeatureService {
  return { definition, pipe, implement };
}

export interface FeatureReport<Settings> {
  readonly changed: () => void;
  /** Reports that the work for these settings is done: the feature is off until other settings arrive. */
  readonly finished: (settings: Settings, off: FeatureOff) => void;
}

export interface Feature<
  Settings extends object = object,
  Running extends RunningFeature<Settings> = RunningFeature<Settings>,
> {
  readonly name: string;
  readonly stage: FeatureStage;
  /** Verb phrase for the log line of a failed start: `cannot …`. */
  readonly purpose: string;
  /** Config keys that are read only at the start of the daemon. Default: none. */
  readonly readAtStart?: readonly (keyof WinsConfig)[];
  /** Returns the feature's settings from a config, or why it is off. Equal settings count as unchanged. */
  settings(loaded: LoadedConfig): Settings | FeatureOff;
  /** An error is logged and the start is retried; in the stage `serves` an error ends the daemon. Absent: nothing to start. */
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
  /** Returns the health of each service name; undefined while it is unknown. */
  health?(view: FeatureView<Settings, Running>): Readonly<Record<string, boolean | undefined>>;
  readonly doctor?: readonly Check[];
  /** Registers the metrics that are read at each scrape. @returns A function that counts an event. */
  metrics?(
    registry: MetricRegistry,
    view: FeatureView<Settings, Running>,
    kernel: Kernel,
  ): (event: DaemonEvent) => void;
}

/** State of a feature. A failed feature may keep running with its previous settings. */
export type FeatureState =
  | ({ readonly kind: 'off' } & FeatureOff)
  | { readonly kind: 'starting' | 'on' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface FeatureView<Settings, Running> {
  readonly state: FeatureState;
  readonly settings: Settings | undefined;
  readonly running: Running | undefined;
  readonly reason: string;
  /** Returns the running feature. @throws FeatureError */
  require(): Running;
}

export interface StartedConfig {
  /** Explicitly named file; undefined for the system's file. */
  readonly named: string | undefined;
  readonly loaded: LoadedConfig;
  readonly refused: Error | undefined;
  /** Fingerprint of the file before it was read. */
  readonly fingerprint: ReturnType<typeof configFingerprint>;
}

export interface ConfigChange {
  /** Changed keys; a list counts as one value. */
  readonly changed: readonly string[];
  /** One line per changed key, with the values before and after if they may be shown. */
  readonly changes: readonly string[];
  /** Keys whose values in the file differ from those in force since the start. */
  readonly needRestart: readonly string[];
}

export interface DaemonConfig {
  readonly start: StartedConfig;
  inForce(): LoadedConfig;
  /** Age of the current config, in milliseconds of a monotonic clock. */
  ageMs(): number;
  /** Applies another config, as far as possible without a restart. */
  become(next: LoadedConfig): ConfigChange;
  /** Returns the keys of this config that take effect at the daemon's next start. */
  needRestart(next: LoadedConfig): readonly string[];
}

/** Parts of a daemon that features receive; they exist regardless of the config. */
export interface Kernel {
  readonly logger: Logger;
  readonly level: LogLevel;
  readonly events: DaemonEvents;
  readonly audit: AuditTrail;
  readonly resources: DaemonResources;
  readonly trust: FileTrust;
  readonly system: DaemonSystem;
  /** Makes host calls for clients; calls that change the host run one at a time. */
  readonly hostCalls: Pick<HostCallGate, 'answer'>;
  /** Starts processes and passes them the variables about this daemon. */
  readonly processHost: ProcessHost;
  /** Folder of the process records that must survive a crash. */
  readonly stateDirectory: string;
  /** Service name of this daemon; undefined when it is not a service. */
  readonly service: string | undefined;
  readonly program: string;
  /** Folder of upgrade records; undefined for a daemon that is not a service. */
  readonly upgradeRecords: string | undefined;
  /** SHA-1 of the program at the start; empty when it could not be read. */
  readonly checksum: Promise<string>;
  readonly config: DaemonConfig;
  readonly pipe: Pick<ServedPipe, 'connections' | 'identify' | 'turns'>;
  /** Returns the client of a connection, `pipe:N` or `admin:N`; undefined when it is not open. */
  clientNamed(name: string): ClientIdentity | undefined;
  of<Settings extends object, Running extends RunningFeature<Settings>>(
    feature: Feature<Settings, Running>,
  ): FeatureView<Settings, Running>;
  features(): readonly FeatureOfDaemon[];
}

export interface FeatureOfDaemon {
  readonly feature: Feature;
  readonly view: FeatureView<object, RunningFeature<object>>;
}
