import type { FileTrust } from '@wins/trusted-files';
import type { ServiceCommand } from '../plan/service-command.js';

/** State of a service by its manager. A transition counts as `pending`. */
export type ServiceState = 'running' | 'stopped' | 'paused' | 'pending';

/** A service as it is registered, and what it does. */
export interface ServiceStatus {
  readonly command: ServiceCommand;
  readonly state: ServiceState;
  /** Whether the service manager starts it for no one. Default false. */
  readonly isDisabled?: boolean;
  /** The number of its process; undefined while it has none, or the service manager does not tell. */
  readonly pid?: number | undefined;
}

/** Held while this process upgrades a service; the system takes it back when the process dies. */
export interface UpgradeLock {
  close(): Promise<void>;
}

/**
 * The service manager, as far as an upgrade needs it. All methods reject with UpgradeError `serviceFailed`.
 *
 * Nothing in it decides: the order of the calls is what makes an upgrade safe.
 */
export interface ServiceControl {
  /** Name of the service in messages. */
  readonly name: string;
  /** Where its program belongs when there is no service yet: an absolute path. */
  readonly defaultTarget: string;
  /** The service; undefined when there is none. */
  query(): Promise<ServiceStatus | undefined>;
  /**
   * Registers the service, or changes what it runs, as one durable act: at each moment, a power failure included, the service has
   * the old command or the new one. What runs already goes on; the command counts from the next start.
   */
  setCommand(command: ServiceCommand): Promise<void>;
  /** Removes the registration of a stopped service. */
  remove(): Promise<void>;
  /** Starts it, and resolves once its process exists: whether that serves is asked elsewhere. Running already is no error. */
  start(): Promise<void>;
  /**
   * Stops it, from any state, and resolves when no process of it is left. What did not end within `graceMs` is ended by force.
   * Stopped already is no error.
   */
  stop(graceMs: number): Promise<void>;
  /** Takes the right to upgrade this service; undefined while another process has it. */
  lock(): Promise<UpgradeLock | undefined>;
}

/** Other differences between systems. */
export interface UpgradeHost {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** Judges folders: who could decide what the service runs, or change the state of an upgrade. */
  readonly trust: FileTrust;
  /** This process among all that ever ran here: `PID:start`, as the process host of the daemon names processes. */
  readonly self: string;
  /** Whether a process of this number started this one, itself or by others that still run. */
  isBelow(pid: number): boolean;
  /** Start of a process in milliseconds since 1970; undefined when that is not known. */
  startedAt(pid: number): number | undefined;
  /** Starts a program that lives on when the run of this process is ended. It must be waited for by no one. */
  startApart(file: string, args: readonly string[]): Promise<void>;
}
