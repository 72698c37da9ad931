/**
 * Why a run ended; the first cause is kept. `exited`: its leader ended by itself. `stopped`: a
 * client asked. `leaseEnded`, `leaseNeverHeld`, `ownerDisconnected`: the client that started it went
 * away. `daemonStopping`: the manager closed. `hostFailed`: it could not be supervised.
 */
export type ExitReason =
  | 'exited'
  | 'stopped'
  | 'leaseEnded'
  | 'leaseNeverHeld'
  | 'ownerDisconnected'
  | 'daemonStopping'
  | 'hostFailed';

/** How a run ended. */
export interface ProcessExit {
  /** The leader's exit code, 0 to 2^32-1; 128 + the signal's number when a signal ended it. */
  readonly code: number;
  /** Name of the signal that ended the leader, for example `SIGKILL`. */
  readonly signal?: string;
  readonly reason: ExitReason;
}
