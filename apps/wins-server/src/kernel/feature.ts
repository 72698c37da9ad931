/**
 * The declaration of a feature: all that the kernel needs to know of a part of the daemon, in one
 * object. The array in `features/features.ts` is the only list of them.
 */
import type { ClientIdentity, ProcessHost } from '@wins/base';
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { AuditTrail } from './audit/audit-trail.js';
import type { configFingerprint, LoadedConfig, WinsConfig } from '@wins/config';
import type { MetricRegistry } from '../features/metrics/metric-registry.js';
import type { FileTrust } from '@wins/trusted-files';
import type { Check } from '../doctor/doctor-host.js';
import type { Logger } from './log/logger.js';
import type { LogLevel } from './log/log-level.js';
import type { DaemonSystem } from '../operating-system.js';
import type { Callers } from './rpc/administrators-only.js';
import type { DaemonResources } from './admission/daemon-resources.js';
import type { HostCallGate } from '../features/host/host-call-gate.js';
import type { DaemonEvent, DaemonEvents } from './daemon-events.js';
import type { ServedPipe } from './served-pipe.js';

/** Why a feature does nothing. */
export interface FeatureOff {
  /** A clause, for people. */
  readonly reason: string;
  /** Whether the config is at fault, so that the feature is not well. Default: no. */
  readonly isFault?: boolean;
}

/** Whether settings say that a feature is off. Settings of one that is on have no key `reason`. */
export function isOff(settings: object): settings is FeatureOff {
  return 'reason' in settings;
}

/** A feature that has started. Its switch closes it. */
export interface RunningFeature<Settings> {
  /**
   * Puts settings in force: called with those of the start, then with each change. When it fails,
   * the feature runs on, and it is called again later. Absent: for each change the feature is
   * closed and started.
   */
  configure?(settings: Settings): Promise<void> | void;
  /** Idempotent. */
  close(): Promise<void> | void;
}

/**
 * When a feature starts and ends. Those that observe start when the daemon has its pipe, and end
 * last. Those that serve start after them, before a client is served, and the daemon does not start
 * without them. Those that work start when the daemon is ready, and end first.
 */
export type FeatureStage = 'observes' | 'serves' | 'works';

/** A service of gRPC. */
export interface FeatureService {
  readonly definition: ServiceDefinition;
  /** The pipe of containers, that of administrators, or both. */
  readonly pipe: 'main' | 'admin' | 'both';
  /** Whether health answers for it. Default: yes, if it is on the main pipe. */
  readonly hasHealth?: boolean;
  /** Called once for each pipe, before a client is served. */
  implement(callers: Callers): UntypedServiceImplementation;
}

/** How a feature that runs reports to its switch. */
export interface FeatureReport<Settings> {
  /** Its health may have changed. */
  readonly changed: () => void;
  /** Nothing is left to do with these settings: the feature is off until there are others. */
  readonly finished: (settings: Settings, off: FeatureOff) => void;
}

/** A part of the daemon that the config turns on and off. */
export interface Feature<
  Settings extends object = object,
  Running extends RunningFeature<Settings> = RunningFeature<Settings>,
> {
  readonly name: string;
  readonly stage: FeatureStage;
  /** Completes the line of the log for a start that fails: `cannot …`. */
  readonly purpose: string;
  /** Keys of the config that are read when the daemon starts alone. Default: none. */
  readonly readAtStart?: readonly (keyof WinsConfig)[];
  /** Takes its settings from a config, or says why it is off. Equal settings are no change. */
  settings(loaded: LoadedConfig): Settings | FeatureOff;
  /**
   * Starts it. An error is logged and the start tried again; that of a feature that serves ends the
   * daemon. Absent: there is nothing to start.
   */
  start?(
    settings: Settings,
    kernel: Kernel,
    report: FeatureReport<Settings>,
  ): Running | FeatureOff | Promise<Running | FeatureOff>;
  /** How long the end of the daemon waits for its end, in ms. Default: as long as it takes. */
  readonly closeWithinMs?: number;
  /** How a call that needs it is refused. Default: as by a daemon that is stopping. */
  readonly whenOff?: { readonly code: `${string}Off`; message(reason: string): string };
  services?(view: FeatureView<Settings, Running>, kernel: Kernel): readonly FeatureService[];
  /** Whether each name of its health is well; undefined for one that is not known at the moment. */
  health?(view: FeatureView<Settings, Running>): Readonly<Record<string, boolean | undefined>>;
  /** Checks of `wins doctor`. */
  readonly doctor?: readonly Check[];
  /** Has its states read at each scrape. @returns Counts an event. */
  metrics?(
    registry: MetricRegistry,
    view: FeatureView<Settings, Running>,
    kernel: Kernel,
  ): (event: DaemonEvent) => void;
}

/** Where a feature stands. One that has failed may run on, with settings of before. */
export type FeatureState =
  | ({ readonly kind: 'off' } & FeatureOff)
  | { readonly kind: 'starting' | 'on' }
  | { readonly kind: 'failed'; readonly reason: string };

/** A feature as others see it. */
export interface FeatureView<Settings, Running> {
  readonly state: FeatureState;
  /** Settings that the config wants; undefined when the feature is to be off. */
  readonly settings: Settings | undefined;
  /** Undefined while it does not run. */
  readonly running: Running | undefined;
  /** Why it is not on. */
  readonly reason: string;
  /** The feature that runs. @throws FeatureError */
  require(): Running;
}

export interface StartedConfig {
  /** The file as it was named; undefined: that of the system. */
  readonly named: string | undefined;
  readonly loaded: LoadedConfig;
  /** Why it is the one that was in force before, if it is. */
  readonly refused: Error | undefined;
  /** The state of the file before it was read. */
  readonly fingerprint: ReturnType<typeof configFingerprint>;
}

/** Changes by a config that came into force. */
export interface ConfigChange {
  /** Lists as a whole. */
  readonly changed: readonly string[];
  /** A line for each of them, with the values before and after as far as they may be shown. */
  readonly changes: readonly string[];
  /** Settings that have other values in the file than those in force since the start. */
  readonly needRestart: readonly string[];
}

/** The config of a daemon. */
export interface DaemonConfig {
  readonly start: StartedConfig;
  inForce(): LoadedConfig;
  /** How long ago that was read, in milliseconds of a clock that does not jump. */
  ageMs(): number;
  /** Puts another one in force, as far as that is possible without a restart. */
  become(next: LoadedConfig): ConfigChange;
  /** The settings of this config that take effect at the next start of the daemon. */
  needRestart(next: LoadedConfig): readonly string[];
}

/** Parts of a daemon that features receive: they exist whatever its config says. */
export interface Kernel {
  readonly logger: Logger;
  readonly level: LogLevel;
  readonly events: DaemonEvents;
  readonly audit: AuditTrail;
  /** Resources that clients share. */
  readonly resources: DaemonResources;
  readonly trust: FileTrust;
  readonly system: DaemonSystem;
  /** Makes calls about the host for clients, those that change it one at a time. */
  readonly hostCalls: Pick<HostCallGate, 'answer'>;
  /** Starts processes, which learn of this daemon. */
  readonly processHost: ProcessHost;
  /** Folder of the facts about processes that must be known after a crash. */
  readonly stateDirectory: string;
  /** The service that this daemon is, if it is one. */
  readonly service: string | undefined;
  /** The file of this program. */
  readonly program: string;
  /** Where helpers leave records of upgrades; undefined for a daemon that is no service. */
  readonly upgradeRecords: string | undefined;
  /** The SHA-1 of the program as it was at the start; empty when it could not be read. */
  readonly checksum: Promise<string>;
  readonly config: DaemonConfig;
  readonly pipe: Pick<ServedPipe, 'connections' | 'identify' | 'turns'>;
  /** The client of that connection, `pipe:N` or `admin:N`; undefined when it is not open. */
  clientNamed(name: string): ClientIdentity | undefined;
  /** Another feature of this daemon, which is off where its array does not have it. */
  of<Settings extends object, Running extends RunningFeature<Settings>>(
    feature: Feature<Settings, Running>,
  ): FeatureView<Settings, Running>;
  /** All of them, in the order of the array. */
  features(): readonly FeatureOfDaemon[];
}

/** A feature of a daemon. */
export interface FeatureOfDaemon {
  readonly feature: Feature;
  readonly view: FeatureView<object, RunningFeature<object>>;
}
