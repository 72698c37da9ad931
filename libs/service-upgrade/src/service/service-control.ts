import type { FileTrust } from '@wins/trusted-files';
import type { ServiceCommand } from './service-command.js';

/** A transition counts as `pending`. */
export type ServiceState = 'running' | 'stopped' | 'paused' | 'pending';

/** Registration and state of a service. */
export interface ServiceStatus {
  readonly command: ServiceCommand;
  readonly state: ServiceState;
  /** True when the service manager refuses to start the service. Default false. */
  readonly isDisabled?: boolean | undefined;
  /** Undefined without a process, or when unknown. */
  readonly pid?: number | undefined;
}

/** All methods reject with UpgradeError `serviceFailed`. */
export interface ServiceControl {
  readonly name: string;
  /** Absolute path. Used when no service is registered yet. */
  readonly defaultTarget: string;
  /** Resolves with undefined when the service is not registered. */
  query(): Promise<ServiceStatus | undefined>;
  /** Atomic and durable, even across a loss of power. The command applies from the next start. */
  setCommand(command: ServiceCommand): Promise<void>;
  remove(): Promise<void>;
  /** Resolves when the process exists, even before it is ready. Does nothing if it already runs. */
  start(): Promise<void>;
  /** Works in any state, and resolves when no process of the service is left. After `graceMs`, kills remaining processes. */
  stop(graceMs: number): Promise<void>;
  /** Undefined while another process has the lock for upgrading this service. The system releases it when this process dies. */
  lock(): Promise<AsyncDisposable | undefined>;
}

/** The operating system and the processes of the host. */
export interface UpgradeHost {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly trust: FileTrust;
  /** `PID:start`, which identifies this process among all past and present ones of the host. */
  readonly self: string;
  /** True while the process runs that {@link self} identified, and when the system cannot tell. */
  isAlive(identity: string): boolean;
  /** True when process `pid` started this one, directly or through processes that still run. */
  isBelow(pid: number): boolean;
  /** Milliseconds since 1970; undefined when unknown. */
  startedAtMs(pid: number): number | undefined;
  /** Starts a program that survives the end of the run to which this process belongs. */
  startOutsideRun(file: string, args: readonly string[]): Promise<void>;
}
