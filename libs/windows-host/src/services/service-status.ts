import { SERVICE_STATUS_PROCESS } from '../win32/structures.js';

/** What a service does, as the service control manager counts it. */
export type ServiceState =
  | ('stopped' | 'startPending' | 'stopPending' | 'running')
  | ('continuePending' | 'pausePending' | 'paused');

/** The states in the order of their numbers, from 1. */
const STATES: readonly ServiceState[] = [
  ...(['stopped', 'startPending', 'stopPending', 'running'] as const),
  ...(['continuePending', 'pausePending', 'paused'] as const),
];

/** What the service control manager knows of a service as it is now. */
export interface ServiceStatus {
  readonly state: ServiceState;
  /** Its process; 0 when it has none. */
  readonly pid: number;
  /** How it ended last: a Win32 error code; 1066 says that `serviceExitCode` tells. */
  readonly win32ExitCode: number;
  /** How it ended last, in the service's own numbers. */
  readonly serviceExitCode: number;
  /** Grows while a pending state makes progress. */
  readonly checkpoint: number;
  /** How long the service itself thinks that the next progress takes, in milliseconds. */
  readonly waitHintMs: number;
}

/** ERROR_SERVICE_SPECIFIC_ERROR: the exit code is one of the service's own. */
export const SERVICE_SPECIFIC_ERROR = 1066;

/** Reads a SERVICE_STATUS_PROCESS. */
export function parseServiceStatus(memory: Buffer): ServiceStatus {
  const status = SERVICE_STATUS_PROCESS.read(memory);
  const state = STATES[status.dwCurrentState - 1];
  if (state === undefined) throw new RangeError(`a service has no state ${status.dwCurrentState}`);
  return {
    state,
    win32ExitCode: status.dwWin32ExitCode,
    serviceExitCode: status.dwServiceSpecificExitCode,
    checkpoint: status.dwCheckPoint,
    waitHintMs: status.dwWaitHint,
    pid: status.dwProcessId,
  };
}

/** The number of a state. */
export function stateNumber(state: ServiceState): number {
  return STATES.indexOf(state) + 1;
}
