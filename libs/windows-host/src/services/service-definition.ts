/** When a service is started: with the system, two minutes or so after it, when someone asks, or never. */
export type ServiceStartType = 'automatic' | 'delayed' | 'manual' | 'disabled';

/** What the service control manager is to know of a service. */
export interface ServiceDefinition {
  /** What programs call it; at most 256 characters, no slashes. */
  readonly name: string;
  /** What people call it. */
  readonly displayName: string;
  readonly description: string;
  /** The program, by its absolute path, and its arguments. */
  readonly command: readonly string[];
  /** The whole line, as the system keeps it, in the place of `command`. */
  readonly commandLine?: string;
  readonly startType: ServiceStartType;
  /** Names of services that must run before it. */
  readonly dependencies: readonly string[];
  readonly failurePolicy: FailurePolicy;
  /** How long a shutdown of the system waits for it, in milliseconds. */
  readonly preshutdownTimeoutMs: number;
}

/** What follows when the service crashes or stops with an error. */
export interface FailurePolicy {
  /** Waits before the first, second, … restart, in milliseconds. The last one is repeated forever. At least one. */
  readonly restartDelaysMs: readonly number[];
  /** After so long without a failure the next one counts as the first again, in seconds. */
  readonly resetAfterSeconds: number;
}
