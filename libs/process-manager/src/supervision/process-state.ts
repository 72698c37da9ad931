/** Where a run is between its start and its end. */
export type ProcessState =
  | { readonly kind: 'running' }
  /** The tree was asked to end, or its leader ended and the rest follows; the grace time runs. */
  | { readonly kind: 'stopping'; readonly reason: ExitReason }
  /** The grace time is over; the tree is made to end. */
  | { readonly kind: 'killing'; readonly reason: ExitReason }
  /** The tree is gone; what it wrote is read to the end. */
  | { readonly kind: 'draining'; readonly reason: ExitReason }
  | { readonly kind: 'ended'; readonly exit: ProcessExit };

/** The kinds of state, for tables. */
type ProcessStateKind = ProcessState['kind'];

/** From each state, the states that may follow. */
export const RUN_MOVES: Readonly<Record<ProcessStateKind, readonly ProcessStateKind[]>> = {
  running: ['stopping'],
  stopping: ['killing', 'draining'],
  killing: ['draining'],
  draining: ['ended'],
  ended: [],
};

/** The state that follows; an illegal move is a defect of this library and throws an `Error`. */
export function moveRun(from: ProcessState, to: ProcessState): ProcessState {
  if (RUN_MOVES[from.kind].includes(to.kind)) return to;
  throw new Error(`a run cannot go from ${from.kind} to ${to.kind}`);
}

/**
 * Why a run ended; the first cause is kept. `exited`: its leader ended by itself. `stopped`: a
 * client asked. `leaseEnded`, `leaseNeverHeld`, `ownerDisconnected`: the client that started it went
 * away. `yielded`: its client had the most, and another one had none. `daemonStopping`: the manager
 * closed. `hostFailed`: it could not be supervised.
 */
export type ExitReason =
  | 'exited'
  | 'stopped'
  | 'leaseEnded'
  | 'leaseNeverHeld'
  | 'ownerDisconnected'
  | 'yielded'
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
