import type { FileTrust } from '@wins/trusted-files';
import type { ServiceCommand } from '../plan/service-command.js';

/** State of a service by its manager. A transition counts as `pending`. */
export type ServiceState = 'running' | 'stopped' | 'paused' | 'pending';

/** A registered service, and its state. */
export interface ServiceStatus {
  readonly command: ServiceCommand;
  readonly state: ServiceState;
  /** True when the service manager refuses to start it. Default false. */
  readonly isDisabled?: boolean;
  /** PID of the service; undefined while it has none, or when the service manager does not report it. */
  readonly pid?: number | undefined;
}

/** Held while this process upgrades a service; the system releases it when the process dies. */
export interface UpgradeLock {
  close(): Promise<void>;
}

/**
 * Port to the service manager. All methods reject with UpgradeError `serviceFailed`.
 *
 * Implementations make no decisions: the order of the calls is what makes an upgrade safe.
 */
export interface ServiceControl {
  /** Name of the service in messages. */
  readonly name: string;
  /** Absolute path for its program when no service is registered yet. */
  readonly defaultTarget: string;
  /** Returns the service; undefined when it is not registered. */
  query(): Promise<ServiceStatus | undefined>;
  /**
   * Registers the service, or changes its command, atomically and durably: at any moment, even after a loss of power,
   * the service has the old command or the new one. A running process continues; the command applies from the next
   * start.
   */
  setCommand(command: ServiceCommand): Promise<void>;
  /** Removes the registration of a stopped service. */
  remove(): Promise<void>;
  /**
   * Starts the service, and resolves once its process exists; whether it serves is checked elsewhere. Does nothing when
   * it runs already.
   */
  start(): Promise<void>;
  /**
   * Stops the service, from any state, and resolves when none of its processes is left. Kills processes that have not
   * ended within `graceMs`. Does nothing when it is stopped already.
   */
  stop(graceMs: number): Promise<void>;
  /** Takes the lock for upgrading this service; undefined while another process has it. */
  lock(): Promise<UpgradeLock | undefined>;
}

/** Other differences between systems. */
export interface UpgradeHost {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** Judges who could decide what the service runs, or change the state of an upgrade. */
  readonly trust: FileTrust;
  /** Identifies this process among all past and present ones of the host: `PID:start`, as in the daemon's process host. */
  readonly self: string;
  /** Returns true when the process with this PID started this one, directly or through processes that still run. */
  isBelow(pid: number): boolean;
  /** Returns the start time of a process in milliseconds since 1970; undefined when unknown. */
  startedAt(pid: number): number | undefined;
  /** Starts a program that survives the end of this process's run. Nobody waits for it. */
  startApart(file: string, args: readonly string[]): Promise<void>;
}
